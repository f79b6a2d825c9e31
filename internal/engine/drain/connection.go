package drain

import "time"

const (
	// reportAfter is how long the API may be unreachable before it is reported: it restarts during
	// upgrades.
	reportAfter = 30 * time.Second
	// settleTime is how long after an outage the API may forbid what it allows: an API server that
	// has just started may not have read the roles yet.
	settleTime = 30 * time.Second
)

// connection tracks whether the API responds.
type connection struct {
	downSince time.Time // zero while it responds
	upSince   time.Time // after an outage
	retry     backoff   // until the next request
}

func (c *connection) responded(now time.Time) {
	if !c.downSince.IsZero() {
		*c = connection{upSince: now}
	}
}

func (c *connection) failed(started, now time.Time) {
	if c.downSince.IsZero() || started.Before(c.downSince) {
		c.downSince = started
	}
	if c.retry.expired(now) { // requests that fail together are one failure
		c.retry.extend(now, apiUnreachable)
	}
}

// unreachable reports whether the outage has lasted long enough to be reported.
func (c *connection) unreachable(now time.Time) bool {
	return !c.downSince.IsZero() && !now.Before(c.downSince.Add(reportAfter))
}

func (c *connection) unstable(now time.Time) bool {
	return !c.downSince.IsZero() || now.Before(c.upSince.Add(settleTime))
}
