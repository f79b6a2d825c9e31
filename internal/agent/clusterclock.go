package agent

import (
	"context"
	"sync"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// clockAge is how long ago the API servers' clock may have been read while they respond.
const clockAge = time.Minute

// clusterClock is the clock of the API servers, which maintenance windows are about: that of this
// host may be wrong, or may be set. Between two readings it advances with the monotonic clock.
type clusterClock struct {
	mu           sync.Mutex
	server, host time.Time // at the same moment; zero before the first reading
}

// now returns the time of the API servers, and whether it was ever read.
func (c *clusterClock) now() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server.Add(time.Since(c.host)), !c.host.IsZero()
}

func (c *clusterClock) set(server, host time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server, c.host = server, host
}

func (c *clusterClock) age() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.host)
}

// late returns why a move may not start any more, or nil.
func (a *Agent) late(ctx context.Context, state *node.State, move node.Move) *node.Failure {
	if state.Late(move, state.Order.NotAfter.Add(1)) == nil {
		return nil // at no time
	}
	if a.clock.age() > clockAge {
		server, host, err := a.client.ServerTime(ctx)
		if err == nil {
			a.clock.set(server, host)
		} else if _, known := a.clock.now(); !known {
			return node.Transient("ClockUnread", err, "Check that the API is reachable from this host",
				"cannot read the time of the API server, to which the maintenance window refers")
		}
	}
	now, _ := a.clock.now()
	return state.Late(move, now)
}
