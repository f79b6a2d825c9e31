package output

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// mostFetching is how many of the nodes that fetch are named.
const mostFetching = 8

// NewOperation tells how far an operation is, from its object and the orders to nodes; those of other operations are left out.
func NewOperation(cluster string, u *refitv1alpha1.ClusterUpgrade, orders []*refitv1alpha1.NodeUpgrade, now time.Time) *Operation {
	ours := map[string]*refitv1alpha1.NodeUpgrade{}
	for _, order := range orders {
		if order.Spec.Operation.UID == u.UID {
			ours[order.Name] = order
		}
	}
	status := &u.Status
	o := &Operation{
		APIVersion: APIVersion, Kind: KindOperation, Cluster: cluster, Name: u.Name, Phase: cmp.Or(string(status.Phase), string(refitv1alpha1.PhasePlanning)),
		Ended: u.HasEnded(), To: cmp.Or(u.Spec.Target.Kubernetes, u.Spec.Target.Release), Scope: cmp.Or(string(u.Spec.Scope), string(refitv1alpha1.ScopeAll)),
		CreatedAt: u.CreationTimestamp.UTC(), Doing: status.Doing, DoingSince: timeOf(status.DoingSince),
		ApprovedPlan: u.Spec.ApprovedPlan, Paused: u.Spec.Paused, Aborted: u.Spec.Aborted, Retry: u.Spec.Retry,
		Nodes: NodeCounts{
			Total: int(status.Nodes.Total), Done: int(status.Nodes.Done), Failed: int(status.Nodes.Failed), Skipped: int(status.Nodes.Skipped),
		},
		Stages: []StageProgress{}, Active: []NodeProgress{}, Failures: []NodeFailure{}, // never null
	}
	o.explain(status)
	for _, f := range status.Failures {
		o.Failures = append(o.Failures, NodeFailure{Node: f.Node, Class: string(f.Class), Step: f.Step, Message: f.Message, Remedy: f.Remedy})
	}
	if status.Plan != nil {
		o.From, o.To, o.Plan = status.Plan.From, status.Plan.To, status.Plan.Hash
		if u.Spec.Scope == refitv1alpha1.ScopeWorkers {
			o.From = cmp.Or(status.Plan.WorkersFrom, o.From)
		}
		o.Stages = stagesOf(u, ours)
	}
	if !o.Ended {
		o.Active = activeOf(status.Active, ours)
		o.LeftSeconds = seconds(left(u, o.Active, now))
	}
	return o
}

// explain takes from the conditions why the operation does not go on, and when it ended.
func (o *Operation) explain(status *refitv1alpha1.ClusterUpgradeStatus) {
	ready := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionReady)
	switch {
	case ready == nil:
	case o.Ended:
		o.EndedAt = ready.LastTransitionTime.UTC()
		if reconciling := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionReconciling); reconciling != nil {
			o.EndedAt = reconciling.LastTransitionTime.UTC() // an abort does not change Ready's status
		}
	case ready.Reason != refitv1alpha1.ReasonProgressing:
		o.Reason = ready.Reason
		if _, remedy, found := strings.Cut(ready.Message, ". Remedy: "); found {
			o.Remedy = remedy
		}
	}
}

// activeOf is what the nodes at work do; if there are none, the first of those that fetch.
func activeOf(names []string, ours map[string]*refitv1alpha1.NodeUpgrade) []NodeProgress {
	out := []NodeProgress{}
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
	// Those that have been at it for longest are what everybody waits for.
	slices.SortFunc(out, func(a, b NodeProgress) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Node, b.Node)) })
	return out[:min(len(out), mostFetching)]
}

// answered says whether the agent's part of the status speaks of the newest order.
func answered(order *refitv1alpha1.NodeUpgrade) bool {
	return order.Status.ObservedSequence == order.Spec.Sequence
}

// NewNodeProgress is what a claimed node does now; order is nil as long as there is none.
func NewNodeProgress(node string, order *refitv1alpha1.NodeUpgrade) NodeProgress {
	out := NodeProgress{Node: node, Does: DoesBegin}
	if order == nil {
		return out
	}
	status := &order.Status
	if waiting := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionWaiting); waiting != nil && waiting.Status == metav1.ConditionTrue {
		out.Waits = waiting.Message
	}
	if order.Spec.Permit == refitv1alpha1.PermitPrefetch || order.Spec.Permit == refitv1alpha1.PermitHold {
		if drain := status.Drain; drain != nil && drain.Sequence == order.Spec.Sequence {
			return out.draining(drain)
		}
		if answered(order) && status.Phase == refitv1alpha1.NodePrefetching {
			out.Does = DoesFetch
			out.at(status)
		}
		return out
	}
	out.Does = DoesChange
	if order.Spec.Permit == refitv1alpha1.PermitRollback {
		out.Does = DoesPutBack
	}
	if !answered(order) {
		return out // it was ordered a moment ago
	}
	switch status.Phase {
	case refitv1alpha1.NodeSucceeded, refitv1alpha1.NodeRolledBack:
		out.Does, out.Since = DoesSettle, timeOf(status.FinishedAt)
		return out
	case refitv1alpha1.NodeRollingBack:
		out.Does = DoesPutBack
	case refitv1alpha1.NodeFailed:
		out.Does = DoesFailed
	case refitv1alpha1.NodeIdle, refitv1alpha1.NodePrefetching, refitv1alpha1.NodePrefetched, refitv1alpha1.NodeApplying:
	}
	out.at(status)
	return out
}

// at adds the step that the agent is at.
func (n *NodeProgress) at(status *refitv1alpha1.NodeUpgradeStatus) {
	n.Step, n.Since = status.Step, timeOf(status.StartedAt)
	for _, step := range status.Steps {
		if step.Name == status.Step && step.StartedAt != nil {
			n.Since = timeOf(step.StartedAt)
		}
	}
	if n.Step == "" && status.Error != nil {
		n.Step, n.Since = status.Error.Step, status.Error.At.UTC()
	}
}

func (n NodeProgress) draining(drain *refitv1alpha1.DrainStatus) NodeProgress {
	n.Does, n.Since, n.Remaining = DoesDrain, timeOf(drain.StartedAt), int(drain.Remaining)
	switch drain.Phase {
	case refitv1alpha1.DrainFailed:
		n.Does, n.Step = DoesFailed, "drain"
	case refitv1alpha1.DrainDraining, refitv1alpha1.DrainBlocked, refitv1alpha1.DrainDrained, refitv1alpha1.DrainSkipped: // what follows comes in a moment
	}
	for _, b := range drain.Blockers {
		n.Blockers = append(n.Blockers, Blocker{Pod: b.Pod, Reason: b.Reason})
	}
	return n
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
