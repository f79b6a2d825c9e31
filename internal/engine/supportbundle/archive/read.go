package archive

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// maxFiles bounds an archive of a host.
const maxFiles = 128

// maxIndex bounds its index.
const maxIndex = 1 << 20

// Host is the archive of a host, as far as it is complete.
type Host struct {
	Files map[string][]byte
	Index *cliv1alpha1.SupportBundle // nil: the archive is not complete

	left int64 // until the limit of all files
}

// ReadHost reads the archive of a host. It does not trust the host: only known paths of regular
// files are accepted, up to a size. The files before an error are returned with it.
func ReadHost(from io.Reader, limit int64) (Host, error) {
	out := Host{Files: map[string][]byte{}}
	compressed, err := gzip.NewReader(from)
	if err != nil {
		return out, fmt.Errorf("cannot decompress the archive: %w", err)
	}
	// Headers and padding have a size, too.
	files := tar.NewReader(io.LimitReader(compressed, limit+maxIndex+maxFiles*4096))
	// Those bytes do not bound the files: the holes of a sparse one have none.
	out.left = limit + maxIndex
	for range maxFiles {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("cannot read the archive: %w", err)
		}
		if err := out.add(header, files); err != nil {
			return out, err
		}
	}
	return out, errors.New("the archive has too many files")
}

func (h *Host) add(header *tar.Header, from io.Reader) error {
	_, name, ok := strings.Cut(header.Name, "/")
	if !ok || header.Typeflag != tar.TypeReg || (name != supportbundle.Index && !supportbundle.IsHostPart(name)) {
		return fmt.Errorf("the archive has an unexpected file %q", header.Name)
	}
	content, err := io.ReadAll(io.LimitReader(from, h.left))
	h.left -= int64(len(content))
	if err == nil && int64(len(content)) < header.Size {
		err = errors.New("the archive is too large")
	}
	if name != supportbundle.Index {
		h.Files[name] = content
		if err != nil {
			return fmt.Errorf("%s is not complete: %w", name, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("the index is not complete: %w", err)
	}
	index := &cliv1alpha1.SupportBundle{}
	if err := json.Unmarshal(content, index); err != nil {
		return fmt.Errorf("cannot read the index: %w", err)
	}
	h.Index = index
	return nil
}
