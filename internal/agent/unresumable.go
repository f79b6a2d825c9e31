package agent

import (
	"context"
	"errors"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// cannotResume returns the failure of an open upgrade whose journal or saved files cannot be read.
// Without them the agent runs no step. readState has restored the control plane.
func (a *Agent) cannotResume(err error) *node.Failure {
	failure, ok := errors.AsType[*node.Failure](err)
	if !ok {
		failure = node.HostBroken("CannotResume", err,
			"Restore "+a.Settings.StateDir+" from a backup, or remove it and reinstall one version on the host; then run `systemctl restart refit-agent`",
			"cannot resume the open upgrade %s", a.state.Open)
	}
	a.Log.Error("cannot resume the open upgrade; the agent does nothing until it is restarted", "error", failure, "remedy", failure.Remedy)
	a.status.setResult(&node.Result{
		Sequence: a.state.Sequence, Phase: refitv1alpha1.NodeFailed, Failure: failure.Persistent(), At: time.Now().UTC(),
	})
	return failure
}

// waitBroken reports a failure until the agent is restarted, also as the result of later orders:
// the controller waits for an answer to an abort or a retry.
func (a *Agent) waitBroken(ctx context.Context, failure *node.Failure) error {
	for {
		select {
		case <-ctx.Done():
			return failure
		case <-a.orders.wake:
			if order := a.orders.take(); order != nil && order.Spec.Sequence > a.state.Sequence {
				a.status.setResult(&node.Result{
					Sequence: order.Spec.Sequence, Phase: refitv1alpha1.NodeFailed, Failure: failure.Persistent(), At: time.Now().UTC(),
				})
			}
		}
	}
}
