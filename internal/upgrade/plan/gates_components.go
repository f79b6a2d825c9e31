package plan

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// onComponent checks the step of a component, which is that of the deciding.
func onComponent(closed func(d *deciding, step *componentplan.Step) *Wait) closedFunc {
	return func(d *deciding, _ *cluster.Node, _ int) *Wait { return closed(d, d.step) }
}

// componentFailed holds an operation whose component failed, was refused or rolled back: nothing is
// disrupted after it.
func componentFailed(d *deciding, _ *cluster.Node, _ int) *Wait {
	order := d.failedComponent()
	if order == nil {
		return nil
	}
	f := componentFailure(order)
	what := "failed"
	if f.Step != "" {
		what += " while " + component.Words(f.Step)
	}
	if order.Status.Phase == refitv1alpha1.ComponentRolledBack {
		what += ", and was rolled back"
	}
	return &Wait{
		state: Stalled, Reason: refitv1alpha1.ReasonComponentFailed, Component: order.Name, ManualIntervention: true,
		Message: fmt.Sprintf("Component %s %s (%s): %s", order.Name, what, f.Class, f.Message),
		Remedy:  f.Remedy,
	}
}

// componentTaken holds the order for a component that is being changed for another operation.
func componentTaken(d *deciding, step *componentplan.Step) *Wait {
	order := d.s.ComponentUpgrade(step.Component)
	if order == nil || string(order.Spec.Operation.UID) == d.op.UID || !componentplan.Changing(order) {
		return nil
	}
	return d.otherComponent(order, "Component "+step.Component)
}

// componentNotAlone holds the order for a component while another one or a control plane node is
// changed.
func componentNotAlone(d *deciding, step *componentplan.Step) *Wait {
	for i := range d.s.ComponentUpgrades {
		if order := &d.s.ComponentUpgrades[i]; order.Name != step.Component && componentplan.Changing(order) {
			return d.otherComponent(order, "Component "+step.Component)
		}
	}
	for _, n := range d.servers {
		if d.active[n.Name] || d.changing(n) || d.changedForAnother(n) {
			return &Wait{
				Reason: refitv1alpha1.ReasonComponentWaiting, Node: n.Name, Component: step.Component,
				Message: fmt.Sprintf("Component %s waits for control plane node %s", step.Component, n.Name),
			}
		}
	}
	return nil
}

// componentsChanging holds the claim of a control plane node while a component is being changed,
// whatever the operation that ordered it.
func componentsChanging(d *deciding, n *cluster.Node, _ int) *Wait {
	for i := range d.s.ComponentUpgrades {
		if order := &d.s.ComponentUpgrades[i]; componentplan.Changing(order) {
			return d.otherComponent(order, n.Name)
		}
	}
	return nil
}

// componentsNotReady releases a claimed control plane node before components that its new version
// needs.
func componentsNotReady(d *deciding, n *cluster.Node, hop int) *Wait {
	if d.changing(n) {
		return nil
	}
	if w := componentsChanging(d, n, hop); w != nil {
		return w
	}
	for i := range d.plan.components {
		step := &d.plan.components[i]
		if (step.Hop < hop || step.Hop == hop && step.Before) && !d.componentDone(step) {
			return &Wait{
				Reason: refitv1alpha1.ReasonComponentWaiting, Node: n.Name, Component: step.Component,
				Message: fmt.Sprintf("%s waits for component %s", n.Name, step.Component),
			}
		}
	}
	return nil
}

// otherComponent waits for a component that is being changed.
func (d *deciding) otherComponent(order *cluster.ComponentUpgrade, who string) *Wait {
	since := componentProgress(order)
	w := &Wait{
		Reason: refitv1alpha1.ReasonComponentWaiting, Component: order.Name, Since: since, ManualIntervention: d.overdue(d.past(since)),
		Message: fmt.Sprintf("%s waits: component %s is being changed", who, order.Name), Remedy: checkComponents,
	}
	if string(order.Spec.Operation.UID) != d.op.UID {
		w.Message += " for operation " + order.Spec.Operation.Name
	}
	return w
}

// offerNotApproved holds an order whose changes are not known, or not approved. An order that
// continues was approved before.
func offerNotApproved(d *deciding, step *componentplan.Step) *Wait {
	if d.continues(d.componentOrder(step.Component)) {
		return nil
	}
	if offer := componentplan.AnyOffer(d.s, step); offer != nil && (offer.Kubernetes == step.Kubernetes || offer.Action == refitv1alpha1.ActionRemove) {
		if w := d.blockedOffer(step, offer); w != nil {
			return w
		}
	}
	if componentplan.OfferOf(d.s, step) != nil {
		return nil
	}
	w := &Wait{
		Reason: refitv1alpha1.ReasonComponentWaiting, Component: step.Component, Remedy: checkComponents,
		Message: fmt.Sprintf("Component %s waits until refit-components has computed what %s changes on Kubernetes %s",
			step.Component, step.Release.Name, step.Kubernetes),
	}
	if c := d.s.Component(step.Component); c != nil && c.Stalled() != "" {
		w.Message = fmt.Sprintf("Component %s waits: refit-components cannot compute what %s changes: %s", step.Component, step.Release.Name, c.Stalled())
	}
	if w.Since = d.offerSince(step); !w.Since.IsZero() {
		w.ManualIntervention = d.overdue(w.Since)
	}
	return w
}

// blockedOffer is the first problem of an offer that blocks. Its changes may be unknown because of
// it.
func (d *deciding) blockedOffer(step *componentplan.Step, offer *refitv1alpha1.ComponentOffer) *Wait {
	for i := range offer.Problems {
		problem := &offer.Problems[i]
		if !componentplan.Blocks(step.Component, problem, d.waived) {
			continue
		}
		return &Wait{
			Reason: refitv1alpha1.ReasonBlocked, Component: step.Component, ManualIntervention: true,
			Message: fmt.Sprintf("%s: %s: %s", problem.Reason, componentplan.ProblemObject(step.Component, problem), problem.Message),
			Remedy:  afterRemedy(problem.Remedy, "the upgrade continues"),
		}
	}
	return nil
}

// offerSince is the start of the wait for the offer of a step: when its stage started, or after the
// last change of a component. It is zero if that is unknown.
func (d *deciding) offerSince(step *componentplan.Step) time.Time {
	since := d.stageStart(step)
	for i := range d.s.ComponentUpgrades {
		if order := &d.s.ComponentUpgrades[i]; !since.IsZero() && string(order.Spec.Operation.UID) == d.op.UID {
			since = latest(since, componentProgress(order))
		}
	}
	return since
}

// stageStart is when the stage of a step started, zero if that is unknown.
func (v *view) stageStart(step *componentplan.Step) time.Time {
	if v.op.Plan == nil {
		return time.Time{}
	}
	for i := range v.op.Plan.Stages {
		s := &v.op.Plan.Stages[i]
		if s.Name == step.Stage() && s.Kubernetes == v.plan.Hops[step.Hop].Kubernetes && s.StartTime != nil {
			return s.StartTime.Time
		}
	}
	return time.Time{}
}

// componentSilent waits for refit-components that does not take its order.
func componentSilent(d *deciding, step *componentplan.Step) *Wait {
	order := d.componentOrder(step.Component)
	if order == nil || componentplan.Answered(order) || order.Spec.OrderTime == nil || !d.overdue(order.Spec.OrderTime.Time) {
		return nil
	}
	return &Wait{
		Reason: refitv1alpha1.ReasonComponentWaiting, Component: order.Name, Since: order.Spec.OrderTime.Time, ManualIntervention: true,
		Message: fmt.Sprintf("refit-components has an order for %s and does not respond", order.Name), Remedy: checkComponents,
	}
}

// waived reports whether the user has waived a check for an object, or for all if it is empty.
func (d *deciding) waived(check, object string) bool { return policy.Waived(d.spec, check, object) }
