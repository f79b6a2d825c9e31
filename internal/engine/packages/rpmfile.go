package packages

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"

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

// Extract reads the payload with rpm2cpio, which knows every compression.
func (r rpm) Extract(ctx context.Context, file, name, to string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the rest of the payload is not read
	cmd := exec.CommandContext(ctx, "rpm2cpio", file)
	cmd.Env = environment()
	var log tail
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("cannot unpack %s: %w", file, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot unpack %s: %w", file, err)
	}
	err = extract(bufio.NewReader(out), name, to)
	cancel()
	_ = cmd.Wait() // it was stopped, or has failed: then the payload is incomplete
	if err != nil {
		return fmt.Errorf("cannot unpack %s: %w", name, errors.Join(err, errors.New(log.String())))
	}
	return nil
}

// extract copies a file of a cpio archive to a path.
func extract(in *bufio.Reader, name, to string) error {
	for {
		size, path, err := nextFile(in)
		switch {
		case err != nil:
			return err
		case path == cpioTrailer:
			return fs.ErrNotExist
		case strings.TrimPrefix(path, ".") == name:
			return durable.Create(to, durable.Attributes{Mode: 0o600}, func(out *os.File) error {
				_, err := io.CopyN(out, in, size)
				return err
			})
		}
		if _, err := io.CopyN(io.Discard, in, padded(size)); err != nil {
			return err
		}
	}
}

// nextFile reads the header of the next file in a cpio archive.
func nextFile(in io.Reader) (size int64, path string, err error) {
	text := make([]byte, cpioHeadSize)
	if _, err := io.ReadFull(in, text); err != nil {
		return 0, "", err
	}
	if magic := string(text[:6]); magic != "070701" && magic != "070702" {
		return 0, "", fmt.Errorf("not a cpio archive of the format newc: %q", magic)
	}
	field := func(n int) (value int64) {
		number, wrong := strconv.ParseUint(string(text[6+8*n:][:8]), 16, 32)
		err = cmp.Or(err, wrong)
		return int64(number)
	}
	size, length := field(6), field(11)
	if err != nil || length < 1 || length > maxPathSize {
		return 0, "", fmt.Errorf("the header of a file is damaged: %q", text)
	}
	name := make([]byte, padded(cpioHeadSize+length)-cpioHeadSize)
	if _, err := io.ReadFull(in, name); err != nil {
		return 0, "", err
	}
	return size, string(name[:length-1]), nil
}

const (
	cpioHeadSize = 110
	cpioTrailer  = "TRAILER!!!"
	maxPathSize  = 4096
)

// padded rounds up to a multiple of four.
func padded(size int64) int64 { return (size + 3) &^ 3 }

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
func (w *cpioWriter) Close() error { return w.head(cpioTrailer, 0, 0, 0, 0) }

func (w *cpioWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	w.written += int64(n)
	return n, err
}

// pad fills up to a multiple of four bytes.
func (w *cpioWriter) pad() error {
	_, err := w.Write(make([]byte, padded(w.written)-w.written))
	return err
}
