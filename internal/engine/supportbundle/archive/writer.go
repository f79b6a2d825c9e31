package archive

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plaintext"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// Part is a part of a bundle with its redacted content.
type Part struct {
	cliv1alpha1.BundlePart

	Content []byte
}

// Writer writes an archive. It is not for several goroutines: the order of the parts is theirs.
type Writer struct {
	index *cliv1alpha1.SupportBundle
	root  string
	left  int64 // until the limit of all parts

	compressed *gzip.Writer
	files      *tar.Writer
}

// New returns a Writer of an archive with an index, which gets the parts.
func New(to io.Writer, index *cliv1alpha1.SupportBundle, about string, limit int64) *Writer {
	compressed := gzip.NewWriter(to)
	return &Writer{index: index, root: supportbundle.Root(about, index.Time), left: limit, compressed: compressed, files: tar.NewWriter(compressed)}
}

// Add writes a part, as far as the limit of the archive permits. The error is that of the file: a
// part's own is in the index.
func (w *Writer) Add(p Part) error {
	p.Bytes = int64(len(p.Content))
	if p.Bytes > w.left {
		p.Path, p.Bytes, p.Content, p.Truncated = "", 0, nil, true
		p.Redactions = nil
		p.Error = &supportbundle.Fail(supportbundle.ReasonSizeLimit, "the archive has reached its limit").BundleError
	}
	if len(p.Content) == 0 && p.Error != nil {
		p.Path = ""
	}
	w.left -= p.Bytes
	w.index.Parts = append(w.index.Parts, p.BundlePart)
	if p.Path == "" {
		return nil
	}
	return w.file(p.Path, p.Content)
}

// Close writes the index.
func (w *Writer) Close() error {
	supportbundle.Finish(w.index)
	text, err := json.MarshalIndent(w.index, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the index: %w", err)
	}
	err = w.file(supportbundle.Index, append(plaintext.EscapeJSON(text), '\n'))
	return errors.Join(err, w.files.Close(), w.compressed.Close())
}

func (w *Writer) file(name string, content []byte) error {
	err := w.files.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: path.Join(w.root, name), Size: int64(len(content)), Mode: 0o600, ModTime: w.index.Time.UTC(), Format: tar.FormatPAX,
	})
	if err == nil {
		_, err = w.files.Write(content)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s to the archive: %w", name, err)
	}
	return nil
}
