package seal

import (
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// The memory of compression. A reader refuses larger windows.
const (
	window    = 4 << 20
	maxWindow = 8 << 20
	// threads is low: the host that takes a backup also serves the API.
	threads = 2
)

// Writer seals the plain bytes of a part into a stream.
type Writer struct {
	part    string
	plain   *meter
	stored  *meter
	zstd    *zstd.Encoder
	age     io.WriteCloser
	failed  error
	written bool // Close has succeeded
}

// NewWriter begins a part. Only the recipients can read it.
func NewWriter(to io.Writer, header backup.Header, recipients []age.Recipient) (*Writer, error) {
	if err := backup.ValidHeader(header); err != nil {
		return nil, err
	}
	if len(recipients) == 0 {
		return nil, errors.New("a backup without recipients cannot be read")
	}
	w := &Writer{part: header.Part, plain: newMeter(), stored: newMeter()}
	var err error
	if w.age, err = age.Encrypt(meteredWriter{w.stored, to}, recipients...); err != nil {
		return nil, fmt.Errorf("cannot encrypt %s: %w", header.Part, err)
	}
	if _, err := w.age.Write(header.Encode()); err != nil {
		return nil, fmt.Errorf("cannot encrypt %s: %w", header.Part, err)
	}
	w.zstd, err = zstd.NewWriter(w.age, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window),
		zstd.WithEncoderConcurrency(threads), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, fmt.Errorf("cannot compress %s: %w", header.Part, err)
	}
	return w, nil
}

// Write seals plain bytes. After an error all further calls fail, so that a part with a hole is
// never completed.
func (w *Writer) Write(p []byte) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	if w.plain.size+int64(len(p)) > backup.MaxPart {
		w.failed = fmt.Errorf("%s is larger than %d GiB", w.part, int64(backup.MaxPart>>30))
		return 0, w.failed
	}
	n, err := w.zstd.Write(p)
	w.plain.add(p[:n])
	if err != nil {
		w.failed = err
	}
	return n, err
}

// Written returns the size and the digest of the plain bytes so far.
func (w *Writer) Written() backup.Content { return w.plain.content() }

// Close ends the part. Without it the stored bytes cannot be read.
func (w *Writer) Close() error {
	if w.written {
		return nil
	}
	if w.failed != nil {
		w.Abandon()
		return w.failed
	}
	if w.failed = w.zstd.Close(); w.failed != nil {
		return w.failed
	}
	if w.failed = w.age.Close(); w.failed != nil {
		return w.failed
	}
	w.written = true
	return nil
}

// Abandon releases the resources of a part that is not completed. It writes nothing that completes
// the stream: what is stored stays unreadable.
func (w *Writer) Abandon() {
	if w.failed == nil {
		w.failed = errors.New("the part was abandoned")
	}
	w.zstd.Reset(nil)
}

// Part returns the description of a closed part.
func (w *Writer) Part() (backup.Part, error) {
	if !w.written {
		return backup.Part{}, fmt.Errorf("%s is not closed", w.part)
	}
	return backup.Part{Name: w.part, Stored: w.stored.content(), Plain: w.plain.content()}, nil
}
