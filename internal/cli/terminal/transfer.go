package terminal

import (
	"time"

	"github.com/refit-dev/refit/internal/cli/text"
)

// The intervals between reports of a transfer: on a terminal, and in a log.
const (
	transferInterval    = time.Second
	transferLogInterval = 30 * time.Second
)

// Transfer reports how far a long read is: on a terminal in one line that changes, otherwise in a
// line every half minute.
type Transfer struct {
	*Reading
	interval time.Duration
	last     time.Time
}

// NewTransfer starts to report how far the named object is read.
func (s *Streams) NewTransfer(name string) *Transfer {
	t := &Transfer{Reading: s.NewReading(name, true), interval: transferLogInterval}
	if t.line {
		t.interval = transferInterval
	}
	t.last = t.start
	return t
}

// Report reports the bytes that were read so far.
func (t *Transfer) Report(done, total int64) {
	now := t.now()
	if now.Sub(t.last) < t.interval {
		return
	}
	t.last = now
	t.Part(text.Transfer(done, total, now.Sub(t.start)))
}
