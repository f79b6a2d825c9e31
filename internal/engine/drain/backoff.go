package drain

import (
	"math/rand/v2"
	"time"
)

// backoff is a delay that doubles each time, up to a maximum.
type backoff struct {
	until time.Time
	tries int
}

// bounds are the shortest and the longest delay of a backoff.
type bounds struct{ first, most time.Duration }

var (
	apiUnreachable = bounds{time.Second, 10 * time.Second}     // while the API is unreachable
	apiErrors      = bounds{2 * time.Second, time.Minute}      // after an error of the API itself
	denials        = bounds{15 * time.Second, 5 * time.Minute} // after a denial
	budgetProbes   = bounds{15 * time.Second, time.Minute}     // while a budget does not change
	overlapProbes  = bounds{30 * time.Second, 5 * time.Minute} // while two budgets select a pod
	staleWatch     = bounds{time.Second, 30 * time.Second}     // while live reads differ
	replacedPods   = bounds{15 * time.Second, time.Minute}     // of the same name
)

func (b *backoff) expired(now time.Time) bool { return !now.Before(b.until) }

func (b *backoff) extend(now time.Time, s bounds) {
	b.until = now.Add(jittered(min(s.first<<min(b.tries, 10), s.most)))
	b.tries++
}

// jittered shortens a delay by up to a fifth, so that many drains do not send requests at once.
func jittered(d time.Duration) time.Duration {
	return d - rand.N(d/5) //nolint:gosec // it only spreads load
}
