package plan

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// changedForAnother reports whether the host is being changed for another operation, whatever
// became of that: its agent finishes what it has started.
func (v *view) changedForAnother(n *cluster.Node) bool {
	u := n.Upgrade
	return u != nil && string(u.Spec.NodeUID) == n.UID && string(u.Spec.Operation.UID) != v.op.UID && !v.abandoned(n) &&
		changesHost(u.Status.Phase) && node.Disrupted(u.Status.Steps)
}

// hostTaken holds every order to a host that is being changed for another operation: the agent
// could not follow it, and the order that it follows would be lost.
func hostTaken(d *deciding, n *cluster.Node, _ int) *Wait {
	if !d.changedForAnother(n) {
		return nil
	}
	return d.otherChange(n, n)
}

// otherChange waits for a host that is being changed for another operation.
func (d *deciding) otherChange(n, changed *cluster.Node) *Wait {
	u := changed.Upgrade
	since := lastProgress(u)
	return &Wait{
		Reason: refitv1alpha1.ReasonOlderOperation, Node: changed.Name, Since: since, ManualIntervention: d.now.Sub(since) > interventionDelay,
		Message: fmt.Sprintf("%s waits: the host of %s is being changed for operation %s", n.Name, changed.Name, u.Spec.Operation.Name),
		Remedy:  checkAgent(changed),
	}
}

// lastProgress is when an agent got its order, or last wrote that a step has started or ended.
func lastProgress(u *cluster.Upgrade) time.Time {
	var last time.Time
	update := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	if u.Spec.OrderTime != nil {
		update(u.Spec.OrderTime.Time)
	}
	if u.Status.StartTime != nil {
		update(u.Status.StartTime.Time)
	}
	for _, step := range u.Status.Steps {
		if step.StartTime != nil {
			update(step.StartTime.Time)
		}
		if step.CompletionTime != nil {
			update(step.CompletionTime.Time)
		}
	}
	return last
}
