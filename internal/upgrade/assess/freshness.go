package assess

import (
	"time"

	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// Freshness is whether a decision may be executed, given the age of its Snapshot.
type Freshness int

// The verdicts.
const (
	// Fresh means that the decision may be executed.
	Fresh Freshness = iota
	// Refresh means that the decision may be executed, and the next Snapshot is read in the
	// background: waiting for it would repeatedly delay thousands of nodes by seconds.
	Refresh
	// Stale means that the cluster must be read, and the decision made, again.
	Stale
)

const (
	// minSnapshotAge is an age at which a Snapshot is always recent enough.
	minSnapshotAge = 5 * time.Second
	// slowRead is how long a read takes that a decision should not wait for. While nodes are being
	// upgraded a decision that matters comes soon, so a slow Snapshot is kept fresh for it.
	slowRead = 250 * time.Millisecond
)

// SnapshotAge describes how old a Snapshot is.
type SnapshotAge struct {
	Age  time.Duration
	Took time.Duration // how long it took to read
	// Outdated means that the cluster has changed in a way that only another read shows.
	Outdated bool
}

// Max is how old a Snapshot may be for a decision that matters. On a large cluster a read takes
// longer than minSnapshotAge, so the limit grows with it.
func (s SnapshotAge) Max() time.Duration { return max(minSnapshotAge, 3*s.Took) }

// Earliest is when the next read may have started at the earliest. A read in progress will do,
// unless the Snapshot is outdated.
func (s SnapshotAge) Earliest(now time.Time) time.Time {
	if s.Outdated {
		return now
	}
	return now.Add(-s.Max())
}

// Judge reports whether the decision may be executed with a Snapshot of this age.
func (a *Assessment) Judge(age SnapshotAge, active bool) Freshness {
	return age.judge(a.matters(), active)
}

// matters reports whether the decision needs a recent Snapshot: it disrupts something, or it
// waits for something that an old Snapshot may show and that may be fixed since.
func (a *Assessment) matters() bool {
	return a.Disrupts() || a.Blocking() != nil || a.Decision.State == plan.Stalled
}

func (s SnapshotAge) judge(matters, active bool) Freshness {
	switch {
	case s.Outdated:
		return Stale
	case s.Age <= s.Max():
		return Fresh
	case !matters && active && s.Took > slowRead:
		return Refresh
	case !matters:
		return Fresh
	case s.Age <= s.Max()+2*s.Took:
		return Refresh
	}
	return Stale
}
