package plan

import (
	"cmp"
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// ComponentRequest is the order of an ApplyComponent or a HoldComponent.
type ComponentRequest struct {
	Name    string
	Permit  refitv1alpha1.Permit
	Release refitv1alpha1.ReleaseRef
	Action  refitv1alpha1.ComponentAction
	Version string
	// Kubernetes is the version that the chart is rendered for.
	Kubernetes string
	Digest     string
	Attempt    int64
	// NotAfter is when the change has to have started, zero if that does not matter.
	NotAfter time.Time
}

// componentOrder is this operation's order for a component, nil if there is none.
func (v *view) componentOrder(name string) *cluster.ComponentUpgrade {
	order := v.s.ComponentUpgrade(name)
	if order == nil || string(order.Spec.Operation.UID) != v.op.UID {
		return nil
	}
	return order
}

// isFor reports whether an order is for a step. Several ClusterReleases can have the policy of a
// removal.
func isFor(order *cluster.ComponentUpgrade, step *componentplan.Step) bool {
	spec := &order.Spec
	return (spec.Release == step.Release || step.Action == refitv1alpha1.ActionRemove) && spec.Action == step.Action && spec.Version == step.Version()
}

// componentDone reports whether a step is complete: its order was executed and verified, or the
// operation has ordered a later step of the component since. Without an order, what is installed
// counts, which is the version of the step or of a later one: the order was deleted.
func (v *view) componentDone(step *componentplan.Step) bool {
	order := v.componentOrder(step.Component)
	if order != nil && isFor(order, step) {
		return order.Status.Phase == refitv1alpha1.ComponentSucceeded && componentplan.Answered(order) && !componentplan.Refused(order)
	}
	if order == nil && v.hasVersion(step) {
		return true
	}
	later := false
	for i := range v.plan.components {
		switch other := &v.plan.components[i]; {
		case other == step:
			later = true
		case !later || other.Component != step.Component:
		case order == nil && v.hasVersion(other), order != nil && isFor(order, other):
			return true
		}
	}
	return false
}

func (v *view) hasVersion(step *componentplan.Step) bool {
	c := v.s.Component(step.Component)
	if c == nil || c.Status.Installed == nil {
		return c != nil && c.Observed() && step.Action == refitv1alpha1.ActionRemove
	}
	return c.Status.Installed.Version == step.To && !c.Status.Installed.Pending && step.Action != refitv1alpha1.ActionRemove
}

// componentSpent reports whether an order failed, was refused or rolled back.
func componentSpent(order *cluster.ComponentUpgrade) bool {
	phase := order.Status.Phase
	return componentplan.Refused(order) ||
		componentplan.Answered(order) && (phase == refitv1alpha1.ComponentFailed || phase == refitv1alpha1.ComponentRolledBack)
}

// failedComponent is the order of a component that failed and that the user has not retried.
func (v *view) failedComponent() *cluster.ComponentUpgrade {
	for i := range v.s.ComponentUpgrades {
		u := &v.s.ComponentUpgrades[i]
		if string(u.Spec.Operation.UID) == v.op.UID && u.Spec.Attempt >= v.op.Spec.Retry && componentSpent(u) {
			return u
		}
	}
	return nil
}

func (d *deciding) grantComponentsBefore(hop int) {
	d.grantComponent(refitv1alpha1.StageComponentsBefore, hop)
}

func (d *deciding) grantComponents(hop int) { d.grantComponent(refitv1alpha1.StageComponents, hop) }

// grantComponent orders the first component of a stage that is not complete, and follows it. They
// are sorted by what they need.
func (d *deciding) grantComponent(stage refitv1alpha1.StageName, hop int) {
	for _, step := range d.plan.componentsOf(stage, hop) {
		if d.componentDone(step) {
			continue
		}
		d.step = step
		order := d.componentOrder(step.Component)
		if order != nil && isFor(order, step) && order.Spec.Permit == refitv1alpha1.PermitApply && !componentSpent(order) {
			d.followComponent(order)
			return
		}
		d.orderComponent(order, hop)
		return
	}
}

// orderComponent orders the step of a component. An order that was held, or that failed partly,
// continues with what was approved then.
func (d *deciding) orderComponent(order *cluster.ComponentUpgrade, hop int) {
	if w := d.firstClosed(HeldComponent, nil, hop); w != nil {
		d.wait(*w)
		return
	}
	step, why := d.step, d.step.Reason
	request := &ComponentRequest{
		Name: step.Component, Permit: refitv1alpha1.PermitApply, Release: step.Release, Action: step.Action, Version: step.Version(),
		Kubernetes: step.Kubernetes, Attempt: d.op.Spec.Retry,
	}
	if d.opening != nil {
		request.NotAfter = d.opening.span.Close.Add(-componentNeeds * 2 / 3)
	}
	if offer := componentplan.OfferOf(d.s, step); offer != nil {
		request.Digest = offer.Digest
	}
	if d.continues(order) {
		request.Kubernetes, request.Digest, why = order.Spec.Kubernetes, order.Spec.Digest, "the operation continues with it"
	}
	if order != nil && order.Spec.Attempt < d.op.Spec.Retry && componentSpent(order) {
		why = "retry was requested"
	}
	d.actions = append(d.actions, Action{Kind: ApplyComponent, Component: request, Reason: why})
}

// continues reports whether the next order for the step continues what an order of this operation
// has started.
func (d *deciding) continues(order *cluster.ComponentUpgrade) bool {
	return order != nil && isFor(order, d.step) && componentplan.Continues(order, d.op.Spec.Retry)
}

// followComponent waits for refit-components.
func (d *deciding) followComponent(order *cluster.ComponentUpgrade) {
	d.step = &componentplan.Step{Component: order.Name}
	if d.lateComponent(order) {
		d.holdComponent(order, "its change was not started in time, and nothing was changed")
		return
	}
	if w := d.firstClosed(HeldComponentProgress, nil, 0); w != nil {
		d.wait(*w)
		return
	}
	d.busy++
	w := Wait{Reason: refitv1alpha1.ReasonProgressing, Component: order.Name, Message: componentActivity(order)}
	if order.Status.Waiting != "" {
		w.Message += "; waiting: " + order.Status.Waiting
	}
	if started := order.Status.StartTime; started != nil {
		w.Since = started.Time
	}
	if since := d.past(componentProgress(order)); d.now.Sub(since) > slowDelay {
		w.Reason, w.Since, w.ManualIntervention = refitv1alpha1.ReasonWaiting, since, true
		w.Message = fmt.Sprintf("A step of component %s takes longer than %s%s", order.Name, duration(slowDelay), currentStep(order))
		w.Remedy = checkComponents
	}
	d.wait(w)
}

const checkComponents = "Check that refit-components runs: `kubectl -n refit-components get pods`, " +
	"`kubectl -n refit-components logs deployment/refit-components`"

// componentActivity is what refit-components does, in a sentence.
func componentActivity(order *cluster.ComponentUpgrade) string {
	verb := map[refitv1alpha1.ComponentAction]string{
		refitv1alpha1.ActionInstall: "Installing", refitv1alpha1.ActionUpgrade: "Upgrading", refitv1alpha1.ActionRemove: "Removing",
	}[order.Spec.Action]
	text := cmp.Or(verb, "Changing") + " component " + order.Name
	if order.Spec.Action == refitv1alpha1.ActionRemove {
		text += " " + order.Spec.Version
	} else {
		text += " to " + order.Spec.Version
	}
	if order.Status.Phase == refitv1alpha1.ComponentRollingBack {
		text = "Rolling back component " + order.Name
	}
	return text + currentStep(order)
}

// currentStep is the current step, for the end of a sentence.
func currentStep(order *cluster.ComponentUpgrade) string {
	if order.Status.Step == "" {
		return ""
	}
	return ": " + component.Words(order.Status.Step)
}

// componentProgress is when refit-components got its order, or last wrote that a step has started
// or ended.
func componentProgress(order *cluster.ComponentUpgrade) time.Time {
	last := time.Time{}
	if order.Spec.OrderTime != nil {
		last = order.Spec.OrderTime.Time
	}
	for _, step := range order.Status.Steps {
		if step.StartTime != nil {
			last = latest(last, step.StartTime.Time)
		}
		if step.CompletionTime != nil {
			last = latest(last, step.CompletionTime.Time)
		}
	}
	return last
}

// holdComponents holds the component that is being changed while the operation is paused. Other
// reasons let it finish.
func (d *deciding) holdComponents(h *hold) {
	if h.state == Paused {
		d.withdrawComponents("the operation is paused")
		return
	}
	for i := range d.s.ComponentUpgrades {
		if order := &d.s.ComponentUpgrades[i]; string(order.Spec.Operation.UID) == d.op.UID && componentplan.Changing(order) {
			d.followComponent(order)
		}
	}
}

// withdrawComponents holds the components that are being changed: the open step completes, and a
// freeze is lifted. A rollback goes on. It reports whether something is still being changed.
func (d *deciding) withdrawComponents(why string) bool {
	left := false
	for i := range d.s.ComponentUpgrades {
		order := &d.s.ComponentUpgrades[i]
		if string(order.Spec.Operation.UID) != d.op.UID || !componentplan.Changing(order) {
			continue
		}
		left = true
		if order.Spec.Permit == refitv1alpha1.PermitApply && order.Status.Phase != refitv1alpha1.ComponentRollingBack {
			d.holdComponent(order, why)
			continue
		}
		d.followComponent(order)
	}
	return left
}

// holdComponent orders refit-components to start nothing new.
func (d *deciding) holdComponent(order *cluster.ComponentUpgrade, why string) {
	spec := &order.Spec
	d.actions = append(d.actions, Action{Kind: HoldComponent, Reason: why, Component: &ComponentRequest{
		Name: order.Name, Permit: refitv1alpha1.PermitHold, Release: spec.Release, Action: spec.Action, Version: spec.Version,
		Kubernetes: spec.Kubernetes, Digest: spec.Digest, Attempt: spec.Attempt,
	}})
}

// componentFailures is the component that failed: they are changed one at a time.
func (v *view) componentFailures() []refitv1alpha1.Failure {
	order := v.failedComponent()
	if order == nil {
		return nil
	}
	f := componentFailure(order)
	if order.Status.Phase == refitv1alpha1.ComponentRolledBack && order.Status.Error != nil {
		const also = "; it was rolled back"
		f.Message = refitv1alpha1.Clip(f.Message, refitv1alpha1.MaxMessage-len(also)) + also
	}
	return []refitv1alpha1.Failure{f}
}

func componentFailure(order *cluster.ComponentUpgrade) refitv1alpha1.Failure {
	out := refitv1alpha1.Failure{
		Component: order.Name, Class: refitv1alpha1.FailureManualIntervention, Message: "it was rolled back", Remedy: "Fix the cause, then run `refit retry`",
	}
	if refusal := componentplan.Refusal(order); refusal != nil {
		out.Message = "refit-components refuses the order: " + refusal.Message
		if refusal.Reason == component.RefusedBusy {
			out.Remedy = "Complete that upgrade as `refit components explain " + order.Name + "` shows, or abandon it: " +
				"`kubectl delete componentupgrade " + order.Name + "`"
		}
	} else if e := order.Status.Error; e != nil {
		out.Class, out.Step, out.Message = e.Class, e.Step, e.Message
		out.Remedy = cmp.Or(e.Remedy, out.Remedy)
	}
	out.Message = refitv1alpha1.Clip(out.Message, refitv1alpha1.MaxMessage)
	out.Remedy = refitv1alpha1.Clip(out.Remedy, refitv1alpha1.MaxMessage)
	return out
}
