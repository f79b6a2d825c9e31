package seal

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// maxAgeHeader is the maximum size of age's own header: 17 recipients need less than 3 KiB.
const maxAgeHeader = 16 << 10

// Reader returns the plain bytes of a part. They are proven only when Read has returned io.EOF:
// discard what was read before an error.
type Reader struct {
	want   backup.Part
	stored *source
	plain  *meter
	zstd   *zstd.Decoder
	done   error // the result of every further Read
}

// NewReader opens the part that belongs to a header. Sizes and digests of want may be zero if no
// manifest is known: then only the header and the encryption prove what the part is.
func NewReader(from io.Reader, header backup.Header, want backup.Part, identities []age.Identity) (*Reader, error) {
	r := &Reader{want: want, stored: newSource(from, want.Stored.Size), plain: newMeter()}
	r.stored.allow(maxAgeHeader)
	text, err := age.Decrypt(r.stored, identities...)
	if err != nil {
		return nil, r.explain(err)
	}
	r.stored.allow(backup.MaxPart)
	buffered := bufio.NewReaderSize(text, 64<<10)
	if err := checkHeader(buffered, header); err != nil {
		return nil, r.explain(err)
	}
	r.zstd, err = zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(backup.MaxPart))
	if err != nil {
		return nil, r.explain(err)
	}
	return r, nil
}

// checkHeader reads the header: up to its empty line.
func checkHeader(from *bufio.Reader, header backup.Header) error {
	var raw []byte
	for len(raw) <= backup.MaxHeader {
		b, err := from.ReadByte()
		if err != nil {
			return err
		}
		if raw = append(raw, b); b == '\n' && len(raw) > 1 && raw[len(raw)-2] == '\n' {
			break
		}
	}
	return header.Check(raw)
}

// Read returns plain bytes. It returns io.EOF only if everything is as expected.
func (r *Reader) Read(p []byte) (int, error) {
	if r.done != nil {
		return 0, r.done
	}
	n, err := r.zstd.Read(p)
	r.plain.add(p[:n])
	limit := int64(backup.MaxPart)
	if r.want.Plain.Size > 0 {
		limit = r.want.Plain.Size
	}
	switch {
	case r.plain.size > limit:
		r.done = fmt.Errorf("%w: %s is larger than its manifest states", backup.ErrCorrupt, r.want.Name)
		return 0, r.done
	case err == io.EOF: //nolint:errorlint // an error that wraps io.EOF is no end
		r.done = r.verify()
	case err != nil:
		r.done = r.explain(err)
	}
	return n, r.done
}

// verify compares both sides at the end of the plain text.
func (r *Reader) verify() error {
	// age and zstd have read up to their own end, which may be before the end of the object.
	if _, err := io.Copy(io.Discard, r.stored); err != nil {
		return r.explain(err)
	}
	for _, side := range []struct {
		name      string
		got, want backup.Content
	}{{"stored", r.stored.content(), r.want.Stored}, {"plain", r.plain.content(), r.want.Plain}} {
		if side.want != (backup.Content{}) && side.got != side.want {
			return fmt.Errorf("%w: the %s bytes of %s do not match the manifest", backup.ErrCorrupt, side.name, r.want.Name)
		}
	}
	return io.EOF
}

// Close releases the resources of the reader.
func (r *Reader) Close() { r.zstd.Close() }

// explain classifies an error. One of the source itself, such as a cut connection, keeps its class.
func (r *Reader) explain(err error) error {
	noMatch, isKey := errors.AsType[*age.NoIdentityMatchError](err)
	switch {
	case r.stored.failed != nil:
		return r.stored.failed
	case errors.Is(err, backup.ErrOther), errors.Is(err, backup.ErrCorrupt):
		return err
	case isKey:
		return fmt.Errorf("cannot decrypt %s: %w", r.want.Name, noMatch)
	default:
		return fmt.Errorf("%w: cannot read %s: %w", backup.ErrCorrupt, r.want.Name, err)
	}
}
