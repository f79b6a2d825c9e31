package progress

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// activeOf returns the progress of the active nodes or, if there are none, of the first that
// prefetch.
func activeOf(names []string, ours map[string]*refitv1alpha1.NodeUpgrade) []cliv1alpha1.NodeProgress {
	out := []cliv1alpha1.NodeProgress{}
	for _, name := range names {
		out = append(out, NewNodeProgress(name, ours[name]))
	}
	if len(names) > 0 {
		return out
	}
	for _, order := range ours {
		if order.Spec.Permit == refitv1alpha1.PermitPrefetch && answered(order) && order.Status.Phase == refitv1alpha1.NodePrefetching {
			out = append(out, NewNodeProgress(order.Name, order))
		}
	}
	// The ones that take longest come first: the operation waits for them.
	slices.SortFunc(out, func(a, b cliv1alpha1.NodeProgress) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Node, b.Node))
	})
	return out[:min(len(out), mostFetching)]
}

// answered reports whether the agent's part of the status is about the newest order.
func answered(order *refitv1alpha1.NodeUpgrade) bool {
	return order.Status.ObservedSequence == order.Spec.Sequence
}

// NewNodeProgress returns the current activity on an active node. The order is nil until there is
// one.
func NewNodeProgress(node string, order *refitv1alpha1.NodeUpgrade) cliv1alpha1.NodeProgress {
	out := cliv1alpha1.NodeProgress{Node: node, Activity: cliv1alpha1.ActivityCordon}
	if order == nil {
		return out
	}
	status := &order.Status
	if waiting := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionWaiting); waiting != nil && waiting.Status == metav1.ConditionTrue {
		out.Waits = waiting.Message
	}
	switch order.Spec.Permit {
	case refitv1alpha1.PermitPrefetch, refitv1alpha1.PermitHold, refitv1alpha1.PermitBackup:
		if drain := status.Drain; drain != nil && drain.Sequence == order.Spec.Sequence {
			return draining(out, drain)
		}
		if answered(order) && status.Phase == refitv1alpha1.NodePrefetching {
			out.Activity = cliv1alpha1.ActivityPrefetch
			atStep(&out, status)
		}
		return out
	case refitv1alpha1.PermitApply, refitv1alpha1.PermitRollback:
	}
	out.Activity = cliv1alpha1.ActivityUpgrade
	if order.Spec.Permit == refitv1alpha1.PermitRollback {
		out.Activity = cliv1alpha1.ActivityRollBack
	}
	if !answered(order) {
		return out // the agent has not seen the order yet
	}
	switch status.Phase {
	case refitv1alpha1.NodeSucceeded, refitv1alpha1.NodeRolledBack:
		out.Activity, out.Since = cliv1alpha1.ActivityVerify, timeOf(status.CompletionTime)
		return out
	case refitv1alpha1.NodeRollingBack:
		out.Activity = cliv1alpha1.ActivityRollBack
	case refitv1alpha1.NodeFailed:
		out.Activity = cliv1alpha1.ActivityFailed
	case refitv1alpha1.NodeIdle, refitv1alpha1.NodePrefetching, refitv1alpha1.NodePrefetched, refitv1alpha1.NodeApplying:
	}
	atStep(&out, status)
	return out
}

// atStep adds the agent's current step.
func atStep(n *cliv1alpha1.NodeProgress, status *refitv1alpha1.NodeUpgradeStatus) {
	n.Step, n.Since = status.Step, timeOf(status.StartTime)
	for _, step := range status.Steps {
		if step.Name == status.Step && step.StartTime != nil {
			n.Since = timeOf(step.StartTime)
		}
	}
	if n.Step == "" && status.Error != nil {
		n.Step, n.Since = status.Error.Step, status.Error.At.UTC()
	}
}

func draining(n cliv1alpha1.NodeProgress, drain *refitv1alpha1.DrainStatus) cliv1alpha1.NodeProgress {
	n.Activity, n.Since, n.Remaining = cliv1alpha1.ActivityDrain, timeOf(drain.StartTime), int(drain.Remaining)
	switch drain.Phase {
	case refitv1alpha1.DrainFailed:
		n.Activity, n.Step = cliv1alpha1.ActivityFailed, "drain"
	case refitv1alpha1.DrainDraining, refitv1alpha1.DrainBlocked, refitv1alpha1.DrainDrained, refitv1alpha1.DrainSkipped:
	}
	for _, b := range drain.Blockers {
		n.Blockers = append(n.Blockers, cliv1alpha1.Blocker(b))
	}
	return n
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
