package progress

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// NewComponents lists components by name.
func NewComponents(clusterName string, all []refitv1alpha1.Component, orders []refitv1alpha1.ComponentUpgrade) *cliv1alpha1.Components {
	out := &cliv1alpha1.Components{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindComponents, Cluster: clusterName, Components: []cliv1alpha1.ComponentState{},
	}
	for i := range all {
		var order *refitv1alpha1.ComponentUpgrade
		if at := slices.IndexFunc(orders, func(u refitv1alpha1.ComponentUpgrade) bool { return u.Name == all[i].Name }); at >= 0 {
			order = &orders[at]
		}
		out.Components = append(out.Components, NewComponentState(&all[i], order))
	}
	slices.SortFunc(out.Components, func(a, b cliv1alpha1.ComponentState) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// NewComponentState describes a component. The order is nil if it was never upgraded.
func NewComponentState(c *refitv1alpha1.Component, order *refitv1alpha1.ComponentUpgrade) cliv1alpha1.ComponentState {
	out := cliv1alpha1.ComponentState{
		Name: c.Name, Owner: string(c.Status.Owner), Manage: string(cmp.Or(c.Spec.Manage, refitv1alpha1.ManageRefit)), Adopt: c.Spec.Adopt,
		Outdated: c.Status.ObservedGeneration != 0 && c.Status.ObservedGeneration != c.Generation, Upgrade: newComponentProgress(order),
	}
	if i := c.Status.Installed; i != nil {
		out.Installed = &cliv1alpha1.InstalledComponent{Version: i.Version, Namespace: i.Namespace, Release: i.Name, Revision: i.Revision, Pending: i.Pending}
	}
	for i := range c.Status.Offers {
		out.Offers = append(out.Offers, NewComponentOffer(c, &c.Status.Offers[i]))
	}
	if meta.IsStatusConditionTrue(c.Status.Conditions, refitv1alpha1.ConditionStalled) {
		out.Stalled = meta.FindStatusCondition(c.Status.Conditions, refitv1alpha1.ConditionStalled).Message
	}
	return out
}

// NewComponentOffer describes an offer for a component.
func NewComponentOffer(c *refitv1alpha1.Component, o *refitv1alpha1.ComponentOffer) cliv1alpha1.ComponentOffer {
	out := cliv1alpha1.ComponentOffer{
		Release: o.Release.Name, Version: o.Version, Action: string(o.Action), Kubernetes: o.Kubernetes, Digest: o.Digest,
	}
	if i := c.Status.Installed; i != nil && o.Action == refitv1alpha1.ActionNone && component.Older(o.Version, i.Version) {
		out.Newer = i.Version
	}
	if o.Digest != "" {
		out.Changes = changesOf(o)
	}
	for _, p := range o.Problems {
		out.Problems = append(out.Problems, cliv1alpha1.ComponentProblem(p))
	}
	return out
}

func changesOf(o *refitv1alpha1.ComponentOffer) *cliv1alpha1.ObjectChanges {
	out := &cliv1alpha1.ObjectChanges{Create: o.Changes.Create, Change: o.Changes.Change, Delete: o.Changes.Delete, Deletes: o.Deletes}
	for _, crd := range o.CRDs {
		out.CRDs = append(out.CRDs, cliv1alpha1.CRDChange(crd))
	}
	return out
}

// newComponentProgress describes an order. The journal of an earlier order is not shown beside one
// that refit-components has not observed, except for a freeze that may be in force.
func newComponentProgress(order *refitv1alpha1.ComponentUpgrade) *cliv1alpha1.ComponentProgress {
	if order == nil {
		return nil
	}
	spec, status := &order.Spec, &order.Status
	seen := snapshotOf(order)
	out := &cliv1alpha1.ComponentProgress{
		Operation: spec.Operation.Name, Release: spec.Release.Name, Action: string(spec.Action), To: spec.Version, Permit: string(spec.Permit),
		Answered: componentplan.Answered(seen),
	}
	if spec.Action == refitv1alpha1.ActionRemove { // the order names the version that it removes
		out.From, out.To = spec.Version, ""
	}
	if f := status.Frozen; f != nil {
		out.Frozen = &cliv1alpha1.ComponentFreeze{Since: f.Since.UTC(), Until: f.Since.Add(f.Limit.Duration).UTC(), Lifted: f.Lifted}
	}
	if refusal := componentplan.Refusal(seen); refusal != nil {
		out.Refused = refusal.Message
	}
	if !out.Answered && !holds(order) {
		return out
	}
	out.From = cmp.Or(status.From, out.From)
	out.Phase, out.Step, out.Waiting, out.Left = string(status.Phase), status.Step, status.Waiting, status.Left
	out.StartTime, out.CompletionTime = timeOf(status.StartTime), timeOf(status.CompletionTime)
	out.Steps, out.Error = stepsOf(status.Steps), errorOf(status.Error)
	return out
}

// holds reports whether an order holds the steps of the same change, so that their journal is about
// it before refit-components has observed it.
func holds(order *refitv1alpha1.ComponentUpgrade) bool {
	spec, was := &order.Spec, order.Status.Order
	return spec.Permit == refitv1alpha1.PermitHold && was != nil && was.Operation.UID == spec.Operation.UID &&
		was.Release == spec.Release && was.Version == spec.Version && was.Action == spec.Action
}

func snapshotOf(order *refitv1alpha1.ComponentUpgrade) *cluster.ComponentUpgrade {
	return &cluster.ComponentUpgrade{Name: order.Name, Generation: order.Generation, Spec: order.Spec, Status: order.Status}
}

func stepsOf(steps []refitv1alpha1.StepStatus) (out []cliv1alpha1.ExplainStep) {
	for _, s := range steps {
		out = append(out, cliv1alpha1.ExplainStep{
			Name: s.Name, State: string(s.State), StartTime: timeOf(s.StartTime), CompletionTime: timeOf(s.CompletionTime),
		})
	}
	return out
}

func errorOf(err *refitv1alpha1.NodeError) *cliv1alpha1.ExplainError {
	if err == nil {
		return nil
	}
	return &cliv1alpha1.ExplainError{
		Class: string(err.Class), Reason: err.Reason, Step: err.Step, Message: err.Message, Remedy: err.Remedy, LogTail: err.LogTail, At: err.At.UTC(),
	}
}
