package artifact

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// archiveLimits bound what an archive may unpack to: it is decompressed to its end.
type archiveLimits struct {
	bytes   int64
	entries int
}

var defaultLimits = archiveLimits{bytes: 2 << 30, entries: 10_000}

// errArchive is the error of an archive that is damaged or not what it claims to be.
var errArchive = errors.New("invalid archive")

// Member is a regular file of an archive, while it is read.
type Member struct {
	// Path is the path in the archive, without a leading "./".
	Path    string
	Size    int64
	Content io.Reader
}

// WalkArchive calls visit for each regular file of a tar archive that is compressed with gzip, in
// their order. Nothing is written. It fails on names that lead out of the archive, on duplicate
// names, on data after the end, and beyond the limits of an archive, also if visit has read
// everything that it needs before.
func WalkArchive(ctx context.Context, from io.Reader, visit func(Member) error) error {
	return walkArchive(ctx, from, defaultLimits, visit)
}

func walkArchive(ctx context.Context, from io.Reader, limits archiveLimits, visit func(Member) error) error {
	compressed := bufio.NewReader(&cancelable{ctx, from})
	unzipped, err := gzip.NewReader(compressed)
	if err != nil {
		return damaged(ctx, err)
	}
	unzipped.Multistream(false) // a second stream is data after the end
	content := &limited{from: unzipped, left: limits.bytes}
	entries := tar.NewReader(content)
	seen := map[string]bool{}
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damaged(ctx, err)
		}
		name, err := memberName(header.Name)
		switch {
		case err != nil:
			return err
		case seen[name]:
			return fmt.Errorf("%w: duplicate entry %s", errArchive, quoted(name))
		case len(seen) >= limits.entries:
			return fmt.Errorf("%w: more than %d entries", errArchive, limits.entries)
		}
		seen[name] = true
		if !regular(header) {
			continue
		}
		if err := visit(Member{Path: name, Size: header.Size, Content: reading{ctx, entries}}); err != nil {
			return err
		}
	}
	return checkEnd(ctx, content, compressed)
}

// checkEnd reads to the end of an archive: what follows its last entry may only be padding.
func checkEnd(ctx context.Context, content io.Reader, compressed *bufio.Reader) error {
	padding := make([]byte, 4096)
	for {
		n, err := content.Read(padding)
		if strings.Trim(string(padding[:n]), "\x00") != "" {
			return fmt.Errorf("%w: data after its last entry", errArchive)
		}
		if errors.Is(err, io.EOF) { // gzip has compared its checksum
			break
		}
		if err != nil {
			return damaged(ctx, err)
		}
	}
	if _, err := compressed.Peek(1); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: data after its end", errArchive)
	}
	return nil
}

// regular reports whether an entry is a regular file that has all its content: not a link, a
// device, or a sparse file.
func regular(header *tar.Header) bool {
	for record := range header.PAXRecords {
		if strings.HasPrefix(record, "GNU.sparse.") {
			return false
		}
	}
	return header.Typeflag == tar.TypeReg
}

// memberName returns the clean name of an entry.
func memberName(name string) (string, error) {
	clean := path.Clean(name)
	if name == "" || len(name) > maxText || !filepath.IsLocal(clean) || strings.ContainsAny(name, "\\\x00") {
		return "", fmt.Errorf("%w: invalid name %s", errArchive, quoted(name))
	}
	return clean, nil
}

func quoted(name string) string { return strconv.QuoteToASCII(refitv1alpha1.Clip(name, 80)) }

// damaged returns the error of reading an archive, unless the context has ended.
func damaged(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", errArchive, err)
}

// reading marks the errors of reading an archive, unlike those of writing its content elsewhere.
type reading struct {
	ctx  context.Context
	from io.Reader
}

func (r reading) Read(into []byte) (int, error) {
	n, err := r.from.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(r.ctx, err)
	}
	return n, err
}

// limited fails after a number of bytes.
type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(into []byte) (int, error) {
	n, err := l.from.Read(into)
	if l.left -= int64(n); l.left < 0 {
		return 0, errors.New("it unpacks to too many bytes")
	}
	return n, err
}
