package drain

import (
	"math/rand/v2"
	"time"
)

// pause is a wait that doubles each time, up to a bound.
type pause struct {
	until time.Time
	tries int
}

// spans are the shortest and the longest time of a pause.
type spans struct{ first, most time.Duration }

var (
	apiAway       = spans{time.Second, 10 * time.Second}       // while the API does not answer
	apiFails      = spans{2 * time.Second, time.Minute}        // after an answer that says that the API itself failed
	apiRefuses    = spans{15 * time.Second, 5 * time.Minute}   // after a refusal that nothing tells the end of
	budgetHolds   = spans{15 * time.Second, time.Minute}       // between questions to a budget that has not changed
	budgetsCross  = spans{30 * time.Second, 5 * time.Minute}   // the same for two budgets that cover a pod
	viewDisagrees = spans{time.Second, 30 * time.Second}       // between live reads that show another node than the watch does
	podChanges    = spans{budgetHolds.first, budgetHolds.most} // after an answer that it is another pod by now
)

func (p *pause) over(now time.Time) bool { return !now.Before(p.until) }

func (p *pause) grow(now time.Time, s spans) {
	p.until = now.Add(jittered(min(s.first<<min(p.tries, 10), s.most)))
	p.tries++
}

// jittered shortens a wait a little, so that many drains do not ask at the same moment.
func jittered(d time.Duration) time.Duration { return d - rand.N(d/5) } //nolint:gosec // it spreads load, and guards nothing
