package progress

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// mostFetching is the number of nodes that are listed during prefetch.
const mostFetching = 8

// NewOperation returns the progress of an operation, from its object and the orders to nodes.
// Orders of other operations are ignored.
func NewOperation(cluster string, u *refitv1alpha1.ClusterUpgrade, orders []*refitv1alpha1.NodeUpgrade, now time.Time) *cliv1alpha1.Operation {
	ours := map[string]*refitv1alpha1.NodeUpgrade{}
	for _, order := range orders {
		if order.Spec.Operation.UID == u.UID {
			ours[order.Name] = order
		}
	}
	status := &u.Status
	o := &cliv1alpha1.Operation{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindOperation, Cluster: cluster, Name: u.Name,
		Phase: cmp.Or(string(status.Phase), string(refitv1alpha1.PhasePlanning)), Ended: u.HasEnded(),
		To: cmp.Or(u.Spec.Target.Kubernetes, u.Spec.Target.Release), Scope: cmp.Or(string(u.Spec.Scope), string(refitv1alpha1.ScopeAll)),
		StartTime: u.CreationTimestamp.UTC(), Message: status.Message,
		ApprovedPlan: u.Spec.ApprovedPlan, Paused: u.Spec.Paused, Aborted: u.Spec.Aborted, Retry: u.Spec.Retry,
		Nodes: cliv1alpha1.NodeCounts{
			Total: int(status.Nodes.Total), Done: int(status.Nodes.Done), Failed: int(status.Nodes.Failed), Skipped: int(status.Nodes.Skipped),
		},
		Stages: []cliv1alpha1.StageProgress{}, Active: []cliv1alpha1.NodeProgress{}, Failures: []cliv1alpha1.NodeFailure{}, // never null
	}
	explain(o, status)
	for _, f := range status.Failures {
		if o.Ended {
			f.Remedy = withoutRetry(f.Remedy)
		}
		o.Failures = append(o.Failures, cliv1alpha1.NodeFailure{
			Node: f.Node, Component: f.Component, Class: string(f.Class), Step: f.Step, Message: f.Message, Remedy: f.Remedy,
		})
	}
	if status.Plan != nil {
		o.From, o.To, o.Plan, o.ProposedPlan = status.Plan.From, status.Plan.To, status.Plan.Hash, status.Plan.ProposedHash
		if u.Spec.Scope == refitv1alpha1.ScopeWorkers {
			o.From = cmp.Or(status.Plan.WorkersFrom, o.From)
		}
		o.Stages, o.ComponentsOnly = stagesOf(u), plan.ComponentsAlone(status.Plan)
		o.Components = componentsOf(o.Stages)
	}
	if !o.Ended {
		o.Active = activeOf(status.Active, ours)
		o.LeftSeconds = seconds(left(u, now))
	}
	return o
}

// explain copies why the operation does not proceed, and when it ended.
func explain(o *cliv1alpha1.Operation, status *refitv1alpha1.ClusterUpgradeStatus) {
	for i := range status.Waiting {
		o.Waiting = append(o.Waiting, waitOf(&status.Waiting[i]))
	}
	ready := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionReady)
	switch {
	case ready == nil:
	case o.Ended:
		o.CompletionTime = ready.LastTransitionTime.UTC()
		if reconciling := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionReconciling); reconciling != nil {
			o.CompletionTime = reconciling.LastTransitionTime.UTC() // an abort does not change Ready's status
		}
		return
	case ready.Reason != refitv1alpha1.ReasonProgressing:
		o.Reason = ready.Reason
	}
	for i := range o.Waiting {
		w := &o.Waiting[i]
		if w.Message == o.Message {
			o.Since = w.Since
		}
		if o.Remedy == "" && w.Reason == o.Reason {
			o.Remedy = w.Remedy
		}
	}
}

func waitOf(w *refitv1alpha1.WaitingFor) cliv1alpha1.Wait {
	return cliv1alpha1.Wait{
		Reason: w.Reason, Node: w.Node, Component: w.Component, Message: w.Message, Remedy: w.Remedy,
		ActionRequired: w.ActionRequired, MoreNodes: int(w.MoreNodes), Since: timeOf(w.Since),
	}
}
