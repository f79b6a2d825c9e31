package packages

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// writePackage writes a package file: the lead, the signature header, the header, the payload.
func writePackage(path, name string, h header, payload string) error {
	in, err := os.Open(payload)
	if err != nil {
		return fmt.Errorf("cannot write a package: %w", err)
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return fmt.Errorf("cannot write a package: %w", err)
	}
	main := h.bytes(tagImmutable)
	sum := sha256.Sum256(main)
	signature := header{}
	signature.setText(tagSHA256, hex.EncodeToString(sum[:]))
	if size := info.Size() + int64(len(main)); size <= math.MaxUint32 {
		signature.setNumbers(tagSize, uint64(size))
	}
	signed := signature.bytes(tagSignatures)
	for len(signed)%8 != 0 {
		signed = append(signed, 0)
	}
	err = durable.Create(path, durable.Attributes{Mode: 0o600}, func(out *os.File) error {
		for _, part := range [][]byte{lead(name), signed, main} {
			if _, err := out.Write(part); err != nil {
				return err
			}
		}
		_, err := io.Copy(out, in)
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot write a package: %w", err)
	}
	return nil
}

// lead returns the first 96 bytes of a package. rpm reads nothing of them but the magic and the
// version of the format.
func lead(name string) []byte {
	out := make([]byte, 96)
	copy(out, []byte{0xed, 0xab, 0xee, 0xdb, 3, 0})
	binary.BigEndian.PutUint16(out[8:], 1)
	copy(out[10:75], name)
	binary.BigEndian.PutUint16(out[76:], 1)
	binary.BigEndian.PutUint16(out[78:], 5)
	return out
}

// cpioWriter writes a cpio archive of the format newc.
type cpioWriter struct {
	out     io.Writer
	written int64
}

// add adds file i of a list.
func (w *cpioWriter) add(files *fileList, i int, size int64, content io.Reader) error {
	if err := w.head("."+files.paths[i], i+1, files.modes[i], files.mtimes[i], size); err != nil {
		return err
	}
	if content == nil {
		return nil
	}
	n, err := io.Copy(w, io.LimitReader(content, size))
	if err == nil && n != size {
		err = errors.New("the file was changed while it was read")
	}
	if err != nil {
		return fmt.Errorf("cannot pack %s: %w", files.paths[i], err)
	}
	return w.pad()
}

func (w *cpioWriter) head(name string, inode int, mode, mtime uint64, size int64) error {
	if size > math.MaxUint32 {
		return fmt.Errorf("%s is larger than a cpio archive allows", name)
	}
	if _, err := fmt.Fprintf(w, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		inode, mode, 0, 0, 1, uint32(mtime), size, 0, 1, 0, 0, len(name)+1, 0, name); err != nil {
		return err
	}
	return w.pad()
}

// Close writes the end of the archive.
func (w *cpioWriter) Close() error { return w.head("TRAILER!!!", 0, 0, 0, 0) }

func (w *cpioWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	w.written += int64(n)
	return n, err
}

// pad fills up to a multiple of four bytes.
func (w *cpioWriter) pad() error {
	_, err := w.Write(make([]byte, (4-w.written%4)%4))
	return err
}
