package agent

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Review returns what an undo of the last operation would do, without disturbing a running agent.
// It is empty unless that operation succeeded: an open one is rolled back from wherever it is.
func Review(ctx context.Context, s settings.Settings, status LocalStatus) steps.Review {
	if !finished(status.State) {
		return steps.Review{}
	}
	h := steps.Host{Settings: s, Upgrade: *status.State.Upgrade, Dir: filepath.Join(s.UpgradesDir(), status.Host.Last), Log: slog.New(slog.DiscardHandler)}
	return h.Review(ctx)
}

// refusal returns why the operation cannot be rolled back safely. An operation that did not succeed
// always can: the agent has recorded every change, and nothing relies on it yet.
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

// ErrNothingToUndo is returned by Undo on a host without an upgrade.
var ErrNothingToUndo = errors.New("nothing to undo: this host was not upgraded")

// Undo rolls the host back to before its last operation, like an order to roll back, with the same
// refusals.
func Undo(ctx context.Context, config Config) (LocalStatus, error) {
	lock, err := lockStopped(config.Settings)
	if errors.Is(err, fs.ErrNotExist) {
		return LocalStatus{}, ErrNothingToUndo
	}
	if err != nil {
		return LocalStatus{}, err
	}
	defer lock.Close()
	a, err := start(ctx, config, nil) // the service serves the socket
	if err != nil {
		return LocalStatus{}, err
	}
	defer a.systemd.Close()
	if a.unresumable != nil {
		return LocalStatus{}, a.unresumable
	}
	switch {
	case a.upgrade == nil && a.state.Unresumed != nil:
		return LocalStatus{}, a.state.Unresumed
	case a.upgrade == nil:
		return LocalStatus{}, ErrNothingToUndo
	}
	state := node.Read(a.upgrade.journal.Records())
	if state.Outcome == refitv1alpha1.NodeRolledBack {
		return LocalStatus{Host: a.state, State: state}, nil
	}
	if err := a.upgrade.refusal(ctx); err != nil {
		return LocalStatus{}, err
	}
	order := state.Order
	order.Permit, order.Manual = refitv1alpha1.PermitRollback, true
	if err := a.upgrade.write(node.Record{Kind: node.Ordered, Order: &order}); err != nil {
		return LocalStatus{}, err
	}
	a.state.Open = filepath.Base(a.upgrade.host.Dir)
	if err := saveState(a.Settings.StateFile(), a.state); err != nil {
		return LocalStatus{}, err
	}
	defer a.rest()
	for {
		more, err := a.step(ctx)
		if err != nil {
			return LocalStatus{}, err
		}
		if !more || a.state.Open == "" {
			break
		}
	}
	state = node.Read(a.upgrade.journal.Records())
	if state.Failure != nil {
		return LocalStatus{}, state.Failure
	}
	return LocalStatus{Host: a.state, State: state}, ctx.Err()
}
