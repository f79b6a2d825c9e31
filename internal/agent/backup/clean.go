package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/refit-dev/refit/internal/engine/rehearsal"
)

// cleanTimeout bounds the removal of units, mounts and files.
const cleanTimeout = 5 * time.Minute

// cleanLeftovers removes the units, mounts and files of a drill that a killed agent left. It does
// not delay upgrades: the next attempt waits for it, and removes what is left once more.
func (m *Manager) cleanLeftovers(ctx context.Context) {
	if !m.Environment.Leftovers() {
		return
	}
	cleaned := make(chan struct{})
	m.cleaned = cleaned
	m.running.Go(func() {
		defer close(cleaned)
		ctx, cancel := context.WithTimeout(ctx, cleanTimeout)
		defer cancel()
		runner, err := m.Environment.Runner(ctx, rehearsal.Observer{})
		if err == nil {
			defer runner.Close()
			err = runner.Clean(ctx)
		}
		if err != nil {
			m.Log.Error("cannot remove what a drill left; the next drill tries again", "error", err)
			return
		}
		m.Log.Info("removed what an interrupted drill left")
	})
}

// awaitClean waits until the leftovers are removed, or the attempt is stopped. It reports the wait:
// an agent that does not would lose its order.
func (m *Manager) awaitClean(ctx context.Context, a *Attempt) {
	if m.cleaned == nil {
		return
	}
	select {
	case <-m.cleaned:
		return
	default:
	}
	a.waits(fmt.Sprintf("removing what an interrupted drill left (at most %s)", cleanTimeout))
	select {
	case <-m.cleaned:
	case <-ctx.Done():
	}
}
