package seal

import (
	"fmt"
	"io"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// source measures and bounds the stored bytes of a part.
type source struct {
	*meter
	from   io.Reader
	max    int64 // all that the part may have
	limit  int64 // all that may be read for now
	failed error // of from itself
}

// newSource bounds a part by its size in the manifest, if there is one.
func newSource(from io.Reader, size int64) *source {
	if size <= 0 {
		size = backup.MaxPart
	}
	return &source{meter: newMeter(), from: from, max: size}
}

// allow sets how many bytes may be read in all.
func (s *source) allow(limit int64) { s.limit = min(limit, s.max) }

func (s *source) Read(p []byte) (int, error) {
	// One byte more than allowed, to notice that there is one.
	if left := s.limit - s.size + 1; int64(len(p)) > left {
		p = p[:max(left, 0)]
	}
	n, err := s.from.Read(p)
	s.add(p[:n])
	if s.size > s.limit {
		return 0, fmt.Errorf("%w: the part is longer than expected", backup.ErrCorrupt)
	}
	if err != nil && err != io.EOF { // an error that wraps io.EOF is no end
		s.failed = err
	}
	return n, err
}
