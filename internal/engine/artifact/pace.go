package artifact

import (
	"context"
	"errors"
	"io"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The speed below which a source loses against the next one, measured over a window.
const (
	minBytesPerSecond = 64 << 10
	paceWindow        = 30 * time.Second
)

// errSlow is the error of a place that is slower than minBytesPerSecond.
var errSlow = errors.New("slower than 64 KiB/s")

// errNoPlace is the error of a file that no place has.
var errNoPlace = errors.New("no place has the file")

// pace is the speed that a transfer must have.
type pace int64

// anyPace is for files that no other place has.
const anyPace pace = 0

// fetchFromAny tries all places, and again those that were too slow if no other has the file. It
// returns errNoPlace if none has it, with the failed attempts.
func (s *Store) fetchFromAny(ctx context.Context, b refitv1alpha1.Blob, places []place) (tried []attempt, err error) {
	var slow []place
	for i, at := range places {
		wanted := pace(minBytesPerSecond)
		if i == len(places)-1 && len(slow) == 0 {
			wanted = anyPace
		}
		err := s.fetchFrom(ctx, b, at, wanted)
		switch {
		case errors.Is(err, errSlow):
			slow = append(slow, at)
			continue
		case err == nil, s.ends(ctx, err):
			return nil, err
		}
		tried = append(tried, attempt{at.String(), err})
	}
	for _, at := range slow {
		err := s.fetchFrom(ctx, b, at, anyPace)
		if err == nil || s.ends(ctx, err) {
			return nil, err
		}
		tried = append(tried, attempt{at.String(), err})
	}
	return tried, errNoPlace
}

// ends reports whether an error ends the fetch, whatever other places have.
func (s *Store) ends(ctx context.Context, err error) bool {
	_, here := errors.AsType[localError](err)
	return here || ctx.Err() != nil
}

// paced is a reader that fails when it is slower than a pace over a window.
type paced struct {
	from  io.Reader
	pace  pace
	now   func() time.Time
	since time.Time
	got   int64
}

func (s *Store) measure(from io.Reader, wanted pace) io.Reader {
	return &paced{from: from, pace: wanted, now: s.now, since: s.now()}
}

func (p *paced) Read(into []byte) (int, error) {
	n, err := p.from.Read(into)
	p.got += int64(n)
	elapsed := p.now().Sub(p.since)
	if err != nil || p.pace == anyPace || elapsed < paceWindow {
		return n, err
	}
	if float64(p.got) < float64(p.pace)*elapsed.Seconds() {
		return n, errSlow
	}
	p.since, p.got = p.now(), 0
	return n, nil
}
