package drain

import "time"

const (
	// silence is how long the API may be away before a person is told: it restarts during upgrades.
	silence = 30 * time.Second
	// shaky is how long after an outage the API may refuse what it allows: an API server that has just started may not have read the roles yet.
	shaky = 30 * time.Second
)

// link is how the API answers at all.
type link struct {
	silent time.Time // since when it does not; zero: it does
	back   time.Time // when it answered again
	pause  pause     // nobody is asked before
}

func (l *link) answered(now time.Time) {
	if !l.silent.IsZero() {
		*l = link{back: now}
	}
}

func (l *link) failed(begun, now time.Time) {
	if l.silent.IsZero() || begun.Before(l.silent) {
		l.silent = begun
	}
	if l.pause.over(now) { // requests that fail together are one failure
		l.pause.grow(now, apiAway)
	}
}

// away says whether the API has been silent for so long that a person should know.
func (l *link) away(now time.Time) bool {
	return !l.silent.IsZero() && !now.Before(l.silent.Add(silence))
}

func (l *link) shaky(now time.Time) bool { return !l.silent.IsZero() || now.Before(l.back.Add(shaky)) }
