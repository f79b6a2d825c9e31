package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Review reports what an undo of the last operation would do, without disturbing an agent that
// works. It is empty unless that operation ended well: one that is open is rolled back from
// whatever it has reached.
func Review(ctx context.Context, s settings.Settings, status LocalStatus) steps.Review {
	if !finished(status.State) {
		return steps.Review{}
	}
	h := steps.Host{Settings: s, Upgrade: *status.State.Upgrade, Dir: filepath.Join(s.UpgradesDir(), status.Memory.Last), Log: slog.New(slog.DiscardHandler)}
	return h.Review(ctx)
}

// refusal is why the operation cannot be rolled back safely. One that has not ended well always may
// be: its agent knows every change, and nobody relies on it yet.
func (r *runner) refusal(ctx context.Context) error {
	if !finished(node.Read(r.journal.Records())) {
		return nil
	}
	review := r.host.Review(ctx)
	for _, warning := range review.Warnings {
		r.log.Warn("before the rollback", "warning", warning)
	}
	if review.Refusal != nil {
		return review.Refusal
	}
	return nil
}

func finished(state *node.State) bool {
	return state != nil && state.Outcome == refitv1alpha1.NodeSucceeded
}

// Undo rolls the host back to before its last operation, as an order to roll back would, and is
// refused as one.
func Undo(ctx context.Context, config Config) (LocalStatus, error) {
	lock, err := host.Lock(config.Settings.LockFile())
	if err != nil {
		return LocalStatus{}, fmt.Errorf("the service is at work; stop it first (systemctl stop refit-agent): %w", err)
	}
	defer lock.Close()
	a, err := start(ctx, config)
	if err != nil {
		return LocalStatus{}, err
	}
	defer a.systemd.Close()
	if a.work == nil {
		return LocalStatus{}, errors.New("there was no work on this host, so there is nothing to undo")
	}
	state := node.Read(a.work.journal.Records())
	if state.Outcome == refitv1alpha1.NodeRolledBack {
		return LocalStatus{Memory: a.memory, State: state}, nil
	}
	if err := a.work.refusal(ctx); err != nil {
		return LocalStatus{}, err
	}
	order := state.Order
	order.Permit, order.Manual = refitv1alpha1.PermitRollback, true
	if err := a.work.write(node.Record{Kind: node.Ordered, Order: &order}); err != nil {
		return LocalStatus{}, err
	}
	a.memory.Open = filepath.Base(a.work.host.Dir)
	if err := storeMemory(a.Settings.StateFile(), a.memory); err != nil {
		return LocalStatus{}, err
	}
	for {
		more, err := a.step(ctx)
		if err != nil {
			return LocalStatus{}, err
		}
		if !more || a.memory.Open == "" {
			break
		}
	}
	state = node.Read(a.work.journal.Records())
	if state.Failure != nil {
		return LocalStatus{}, state.Failure
	}
	return LocalStatus{Memory: a.memory, State: state}, ctx.Err()
}
