package plan

import (
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// clock is the time on a machine.
func (m *machine) clock(w *world) time.Time { return w.now.Add(m.skew) }

// clock is the time of a controller.
func (c *controller) clock(w *world) time.Time { return w.now.Add(c.skew) }

// snapshot is the controller's view with what it measures of its own clock.
func (c *controller) snapshot() *cluster.Snapshot {
	s := *c.view.snapshot
	s.ClockOffset = c.skew
	return &s
}

// drawClocks makes the clocks of some machines wrong, in one of four simulations.
func (w *world) drawClocks() {
	if w.skewed = w.dice.IntN(4) == 0; !w.skewed {
		return
	}
	for _, m := range w.machines {
		if w.dice.IntN(2) == 0 {
			m.skew = w.drawSkew(10 * time.Minute)
		}
	}
}

// drawControllerSkew draws the clock of a new leader: usually right, sometimes within what is
// tolerated, sometimes wrong.
func (w *world) drawControllerSkew() time.Duration {
	if w.dice == nil || !w.skewed {
		return 0
	}
	return []time.Duration{0, w.drawSkew(maxClockSkew), w.drawSkew(10 * time.Minute)}[w.dice.IntN(3)]
}

// drawSkew draws a skew of at most a duration, in seconds.
func (w *world) drawSkew(most time.Duration) time.Duration {
	return (time.Duration(w.dice.Int64N(int64(2*most/time.Second)+1)) * time.Second) - most
}

// slack is how far the clocks of two controllers may be apart.
func (w *world) slack() time.Duration {
	if !w.skewed {
		return 0
	}
	return 2*maxClockSkew + tick
}
