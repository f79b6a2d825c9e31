package agent

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The agent checks again after these times whether it may change the host.
const (
	firstPermissionWait   = 2 * time.Second
	longestPermissionWait = 15 * time.Second
)

// permission is the state of the wait for permission to change the host.
type permission struct {
	wait    time.Duration // zero: it does not wait
	message string
}

// mayMove reports whether the next move may start now. The first change of a host requires that the
// live ClusterUpgrade permits it, and the first disruption that the maintenance window is open for
// long enough; otherwise the agent reports why and checks again later. A refusal that users cannot
// lift fails the step.
func (a *Agent) mayMove(ctx context.Context) (bool, error) {
	state := node.Read(a.upgrade.journal.Records())
	move := state.Next()
	var failure *node.Failure
	if state.IsFirstChange(move) {
		failure = a.permission(ctx, state.Upgrade)
	}
	if failure == nil { // after the permission, which may have taken long
		failure = a.late(ctx, state, move)
	}
	switch {
	case failure == nil:
		a.permitted()
		return true, nil
	case failure.Class != refitv1alpha1.FailureTransient:
		a.permitted()
		return false, a.upgrade.failed(ctx, move.Step.Name, node.WithoutRollback(failure))
	case ctx.Err() == nil:
		a.awaitPermission(failure)
	}
	return false, nil
}

func (a *Agent) permitted() {
	if a.waits.wait > 0 {
		a.waits = permission{}
		a.status.setWaiting("")
	}
}

func (a *Agent) awaitPermission(failure *node.Failure) {
	a.waits.wait = min(max(2*a.waits.wait, firstPermissionWait), longestPermissionWait)
	if text := failure.Text(); text != a.waits.message {
		a.waits.message = text
		a.Log.Warn("waiting for permission to change this host", "reason", failure.Reason, "message", text, "remedy", failure.Remedy)
		a.status.setUnpermitted(text)
	}
	a.orders.wakeAfter(a.waits.wait)
}

// permission reads what permits the first change, and returns why it may not start.
func (a *Agent) permission(ctx context.Context, u *node.Upgrade) *node.Failure {
	live, failure := a.live(ctx, u)
	if failure != nil {
		return failure
	}
	return node.Permission(u, live)
}

// live reads what the permission depends on. A failure names the object that could not be read.
func (a *Agent) live(ctx context.Context, u *node.Upgrade) (node.Live, *node.Failure) {
	operation, err := a.client.Operation(ctx, u.Operation.Name)
	if apierrors.IsNotFound(err) {
		return node.Live{Operation: &refitv1alpha1.ClusterUpgrade{}}, nil
	}
	if err != nil {
		return node.Live{}, node.Transient("OperationUnreadable", err, "Check that the API is reachable from this host and allows nodes to get clusterupgrades",
			"cannot read ClusterUpgrade %s before the first change", u.Operation.Name)
	}
	self, err := a.client.Node(ctx)
	if err != nil {
		return node.Live{}, node.Transient("NodeUnreadable", err, "Check that the API is reachable from this host and allows it to get its Node",
			"cannot read the Node of this host before the first change")
	}
	target, err := a.target(ctx, operation.Spec.Target, u)
	if err != nil {
		return node.Live{}, node.Transient("TargetUnreadable", err, "Apply the ClusterRelease again, signed with a key that this host trusts",
			"cannot read ClusterRelease %s, the target of ClusterUpgrade %s", operation.Spec.Target.Release, operation.Name)
	}
	return node.Live{Operation: operation, Target: target, Labels: self.Labels}, nil
}

// target returns the version of an operation's target. The version of another ClusterRelease counts
// only if a pinned key signed it.
func (a *Agent) target(ctx context.Context, target refitv1alpha1.Target, u *node.Upgrade) (string, error) {
	switch target.Release {
	case "":
		return target.Kubernetes, nil
	case u.Release.Name:
		return u.To, nil
	}
	object, err := a.client.Release(ctx, target.Release)
	if err != nil {
		return "", err
	}
	release, err := a.verify(object.Spec.Envelope)
	return release.Payload.Kubernetes, err
}
