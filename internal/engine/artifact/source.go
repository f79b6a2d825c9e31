package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Source is where files are fetched from: a folder, a web server, or an OCI layout. It is not
// trusted: every file is checked by its digest.
type Source interface {
	// String returns the source without a password.
	String() string
	// places returns where in the source a file may be, in the order in which they are tried.
	places(b refitv1alpha1.Blob) []place
}

// place is one place where a file may be.
type place interface {
	String() string
	// open opens the file at an offset, or at start 0 if the place does not support offsets.
	open(ctx context.Context, b refitv1alpha1.Blob, offset int64) (body io.ReadCloser, start int64, err error)
}

// errNotFound is the error of a place that does not have the file. A retry is useless.
var errNotFound = errors.New("file not found")

// errOtherFile is the error of a place that has a different file.
var errOtherFile = errors.New("different file found")

// ParseSource parses a source: a folder (/srv/refit or file:///srv/refit), a web server
// (https://mirror.example/refit), or an OCI layout (oci:/srv/layout).
func ParseSource(text string) (Source, error) {
	if layout, is := strings.CutPrefix(text, "oci:"); is {
		if !filepath.IsAbs(layout) {
			return nil, fmt.Errorf("an OCI layout must have an absolute path, as in oci:/srv/layout, not %q", text)
		}
		return ociLayout(filepath.Clean(layout)), nil
	}
	if filepath.IsAbs(text) {
		return folder(filepath.Clean(text)), nil
	}
	u, err := url.Parse(text)
	if err != nil {
		// The text may have a password.
		return nil, errors.New("a source must be an absolute path, https://..., http://... or oci:/path")
	}
	switch {
	case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") && filepath.IsAbs(u.Path):
		return folder(filepath.Clean(u.Path)), nil
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.RawQuery == "" && u.Fragment == "":
		return &mirror{base: u, web: newWeb()}, nil
	}
	return nil, fmt.Errorf("%q is not a source: use an absolute path, https://..., http://... or oci:/path", u.Redacted())
}

// folder is a directory, local or mounted.
type folder string

func (f folder) String() string { return string(f) }

func (f folder) places(b refitv1alpha1.Blob) []place {
	out := []place{}
	if b.Path != "" {
		out = append(out, localFile(filepath.Join(string(f), filepath.FromSlash(b.Path))))
	}
	return append(out, localFile(filepath.Join(string(f), blobPath(b.Digest))))
}

// ociLayout is a directory in the OCI image layout.
type ociLayout string

func (l ociLayout) String() string { return "oci:" + string(l) }

func (l ociLayout) places(b refitv1alpha1.Blob) []place { return []place{layoutBlob{l, b.Digest}} }

type layoutBlob struct {
	layout ociLayout
	digest string
}

func (l layoutBlob) String() string { return l.layout.String() }

func (l layoutBlob) open(ctx context.Context, b refitv1alpha1.Blob, offset int64) (io.ReadCloser, int64, error) {
	marker, err := os.ReadFile(filepath.Join(string(l.layout), "oci-layout"))
	var version struct {
		ImageLayoutVersion string `json:"imageLayoutVersion"`
	}
	if err != nil || json.Unmarshal(marker, &version) != nil || !strings.HasPrefix(version.ImageLayoutVersion, "1.") {
		return nil, 0, fmt.Errorf("%w: not an OCI layout, which has a file oci-layout", errNotFound)
	}
	return localFile(filepath.Join(string(l.layout), blobPath(l.digest))).open(ctx, b, offset)
}

// localFile is a file in a folder.
type localFile string

func (l localFile) String() string { return string(l) }

func (l localFile) open(_ context.Context, b refitv1alpha1.Blob, offset int64) (io.ReadCloser, int64, error) {
	// Opening a pipe must not wait for a writer.
	file, err := os.OpenFile(string(l), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, errNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%w: not a regular file", errOtherFile)
	case info.Size() != b.Size:
		err = fmt.Errorf("%w: %d bytes instead of %d", errOtherFile, info.Size(), b.Size)
	default:
		_, err = file.Seek(offset, io.SeekStart)
	}
	if err != nil {
		_ = file.Close() // the first error has the cause
		return nil, 0, err
	}
	return file, offset, nil
}

// blobPath is the path of a file by its digest, in every kind of source.
func blobPath(digest string) string { return "blobs/sha256/" + hexOf(digest) }
