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

// Source is where files come from: a folder, a web server, or an OCI layout. What it gives is never trusted: the digest decides.
type Source interface {
	// String names the source for a person, without a password.
	String() string
	// places are where in the source a file may lie, in the order in which to look.
	places(b refitv1alpha1.Blob) []place
}

// place is one place where a file may lie.
type place interface {
	String() string
	// open gives the file from an offset on. A place that cannot begin there begins at 0, and says so.
	open(ctx context.Context, b refitv1alpha1.Blob, offset int64) (body io.ReadCloser, start int64, err error)
}

// errElsewhere is the error of a place that does not have the file: asking it again is useless.
var errElsewhere = errors.New("it is not there")

// errAnother is the error of a place that has another file than the one that is wanted.
var errAnother = errors.New("another file is there")

// ParseSource reads a source: a folder (/srv/refit or file:///srv/refit), a web server (https://mirror.example/refit), or an OCI layout (oci:/srv/layout).
func ParseSource(text string) (Source, error) {
	if layout, is := strings.CutPrefix(text, "oci:"); is {
		if !filepath.IsAbs(layout) {
			return nil, fmt.Errorf("an OCI layout is given with its full path, as in oci:/srv/layout, not %q", text)
		}
		return ociLayout(filepath.Clean(layout)), nil
	}
	if filepath.IsAbs(text) {
		return folder(filepath.Clean(text)), nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("a source is a full path, or an http, https, file or oci URL") // the text may hold a password
	}
	switch {
	case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") && filepath.IsAbs(u.Path):
		return folder(filepath.Clean(u.Path)), nil
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.RawQuery == "" && u.Fragment == "":
		return &mirror{base: u, web: newWeb()}, nil
	}
	return nil, fmt.Errorf("%q is no source: give a full path, or an http, https, file or oci URL", u.Redacted())
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

// ociLayout is a directory as the OCI image layout specification describes it.
type ociLayout string

func (l ociLayout) String() string { return "oci:" + string(l) }

func (l ociLayout) places(b refitv1alpha1.Blob) []place { return []place{layoutBlob{l, b.Digest}} }

type layoutBlob struct {
	layout ociLayout
	digest string
}

func (l layoutBlob) String() string { return l.layout.String() }

func (l layoutBlob) open(ctx context.Context, b refitv1alpha1.Blob, offset int64) (io.ReadCloser, int64, error) {
	mark, err := os.ReadFile(filepath.Join(string(l.layout), "oci-layout"))
	var version struct {
		ImageLayoutVersion string `json:"imageLayoutVersion"`
	}
	if err != nil || json.Unmarshal(mark, &version) != nil || !strings.HasPrefix(version.ImageLayoutVersion, "1.") {
		return nil, 0, fmt.Errorf("%w: it is no OCI layout, which has a file oci-layout", errElsewhere)
	}
	return localFile(filepath.Join(string(l.layout), blobPath(l.digest))).open(ctx, b, offset)
}

// localFile is a file in a folder.
type localFile string

func (l localFile) String() string { return string(l) }

func (l localFile) open(_ context.Context, b refitv1alpha1.Blob, offset int64) (io.ReadCloser, int64, error) {
	file, err := os.OpenFile(string(l), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe in its place must not make us wait for a writer
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, errElsewhere
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%w: it is no file", errAnother)
	case info.Size() != b.Size:
		err = fmt.Errorf("%w: it has %d bytes instead of %d", errAnother, info.Size(), b.Size)
	default:
		_, err = file.Seek(offset, io.SeekStart)
	}
	if err != nil {
		_ = file.Close() // the first error says more
		return nil, 0, err
	}
	return file, offset, nil
}

// blobPath is where a file lies by its digest, in every kind of source.
func blobPath(digest string) string { return "blobs/sha256/" + hexOf(digest) }
