package trace

import (
	"slices"
	"strconv"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The steps that are not steps of an agent.
const (
	stepDrain    = "drain"
	stepTrial    = "trial"
	stepRollback = "rollback"
)

// Node returns the spans of what has ended on a node: its prefetch, its upgrade and its rollback.
// The order of a node that was replaced since has ended, whatever it waited for.
func Node(u *refitv1alpha1.ClusterUpgrade, n *refitv1alpha1.NodeUpgrade, replaced bool) []Span {
	if u.Status.Plan == nil || u.UID == "" || n.Spec.Operation.UID != u.UID {
		return nil
	}
	o := &order{u: u, n: n, version: versionOf(u, n.Spec.Release), attempt: strconv.FormatInt(n.Spec.Attempt, 10), replaced: replaced}
	out := o.prefetch()
	out = append(out, o.upgrade()...)
	return append(out, o.rollback()...)
}

// order is the order of a node, with its operation.
type order struct {
	u        *refitv1alpha1.ClusterUpgrade
	n        *refitv1alpha1.NodeUpgrade
	version  string // of the hop
	attempt  string
	replaced bool
}

// span is a span of the node within a stage, without its times.
func (o *order) span(parent *Span, activity string, path ...string) Span {
	// A machine that was installed again under the name of another one has spans of its own.
	machine := []string{activity, o.version, o.n.Name, string(o.n.Spec.NodeUID), o.n.Spec.MachineID}
	s := parent.within(o.u.UID, KindNode, activity+" "+o.n.Name, append(machine, path...)...)
	s.text(AttributeNode, o.n.Name)
	s.text(AttributeTo, o.version)
	return s
}

// tried is a span of one attempt.
func (o *order) tried(parent *Span, activity string, path ...string) Span {
	s := o.span(parent, activity, append(path, o.attempt)...)
	s.text(AttributeRole, string(o.n.Spec.Role)) // it is decided when the node is selected
	s.number(AttributeAttempt, o.n.Spec.Attempt)
	s.text(AttributeAgentVersion, o.n.Status.AgentVersion)
	return s
}

// step is a step of the node.
func (o *order) step(parent *Span, name string, start, end time.Time) Span {
	s := parent.within(o.u.UID, KindStep, name, "step", string(parent.ID[:]), name)
	s.text(AttributeStep, name)
	s.text(AttributeNode, o.n.Name)
	s.Start, s.End = start, end
	return s
}

// answered reports whether the agent's part of the status is about this order.
func (o *order) answered() bool { return o.n.Status.ObservedSequence == o.n.Spec.Sequence }

// prefetch returns the spans of a prefetch that has ended. A prefetch that fails is retried: each
// failure has a span of its own, with the step that failed.
func (o *order) prefetch() []Span {
	steps := o.steps(true)
	if !o.answered() || len(steps) == 0 || o.n.Status.Phase == refitv1alpha1.NodePrefetching {
		return nil
	}
	parent := o.prefetchStage()
	failed := o.n.Status.Phase == refitv1alpha1.NodeFailed && slices.ContainsFunc(steps, isFailed)
	span := o.span(&parent, "prefetch")
	if failed {
		span = o.tried(&parent, "prefetch", "failed")
		o.fail(&span)
		steps = slices.DeleteFunc(steps, func(s refitv1alpha1.StepStatus) bool { return !isFailed(s) })
	}
	out := []Span{span}
	for _, s := range steps {
		if s.CompletionTime == nil {
			return nil
		}
		out = append(out, o.agentStep(&span, s))
	}
	return covering(out)
}

// upgrade returns the spans of an upgrade that has ended: drain, the steps of the agent, trial, and
// the rollback that the agent decides.
func (o *order) upgrade() []Span {
	if !o.hasEnded() {
		return nil
	}
	parent := parentOf(o.u, stageName(o.n.Spec.Role), o.version)
	span := o.tried(&parent, "upgrade")
	out := []Span{span}
	drain := o.drain(&span)
	out = append(out, drain...)
	for _, s := range o.steps(false) {
		out = append(out, o.agentStep(&span, s))
	}
	status, ordered := &o.n.Status, o.n.Spec.Permit == refitv1alpha1.PermitRollback
	if status.Phase == refitv1alpha1.NodeRolledBack && !ordered && status.StartTime != nil && status.CompletionTime != nil {
		out = append(out, o.step(&span, stepRollback, timeOf(status.StartTime), timeOf(status.CompletionTime)))
	}
	if t := status.Trial; t != nil && t.Sequence == o.n.Spec.Sequence && t.StartTime != nil && t.CompletionTime != nil {
		trial := o.step(&span, stepTrial, timeOf(t.StartTime), timeOf(t.CompletionTime))
		if t.Phase == refitv1alpha1.TrialFailed {
			trial.fail(refitv1alpha1.ReasonTrialFailed)
		}
		out = append(out, trial)
	}
	if len(out) == 1 { // it failed before its first step
		if ordered || status.CompletionTime == nil || o.n.Spec.OrderTime == nil {
			return nil
		}
		out[0].Start, out[0].End = timeOf(o.n.Spec.OrderTime), timeOf(status.CompletionTime)
	}
	o.conclude(&out[0])
	return covering(out)
}

// conclude sets how the upgrade ended, and when, if that is later than its last step.
func (o *order) conclude(span *Span) {
	status := &o.n.Status
	if o.isDrainEnd() {
		span.text(AttributePhase, string(status.Drain.Phase))
		if status.Drain.Phase == refitv1alpha1.DrainFailed {
			span.fail(refitv1alpha1.ReasonDrainBlocked)
		}
		return
	}
	end, phase := timeOf(status.CompletionTime), status.Phase
	if o.n.Spec.Permit == refitv1alpha1.PermitRollback { // it ended when the rollback was ordered
		end, phase = timeOf(status.StartTime), refitv1alpha1.NodeRollingBack
		if status.Error != nil {
			end, phase = status.Error.At.UTC(), refitv1alpha1.NodeFailed
		}
	}
	span.cover(&Span{Start: end, End: end})
	span.text(AttributePhase, string(phase))
	if phase != refitv1alpha1.NodeSucceeded {
		o.fail(span)
	}
}

// rollback returns the span of a rollback that was ordered and has ended.
func (o *order) rollback() []Span {
	status := &o.n.Status
	ended := status.Phase == refitv1alpha1.NodeRolledBack || status.Phase == refitv1alpha1.NodeFailed
	start := timeOf(status.StartTime)
	if start.IsZero() {
		start = timeOf(o.n.Spec.OrderTime)
	}
	if o.n.Spec.Permit != refitv1alpha1.PermitRollback || !o.answered() || !ended || status.CompletionTime == nil || start.IsZero() {
		return nil
	}
	parent := parentOf(o.u, stageName(o.n.Spec.Role), o.version)
	span := o.tried(&parent, "roll back")
	span.Start, span.End = start, timeOf(status.CompletionTime)
	span.text(AttributePhase, string(status.Phase))
	if status.Phase == refitv1alpha1.NodeFailed {
		o.fail(&span)
	}
	return []Span{span}
}

// hasEnded reports whether the upgrade of the node has ended. An upgraded node has ended once it is
// released: a trial may follow its last step.
func (o *order) hasEnded() bool {
	if o.isDrainEnd() {
		return true
	}
	if permit := o.n.Spec.Permit; !o.answered() || permit != refitv1alpha1.PermitApply && permit != refitv1alpha1.PermitRollback {
		return false
	}
	switch o.n.Status.Phase {
	case refitv1alpha1.NodeFailed, refitv1alpha1.NodeRolledBack:
		return true
	case refitv1alpha1.NodeSucceeded:
		return o.replaced || o.u.HasEnded() || !slices.Contains(o.u.Status.Active, o.n.Name)
	case refitv1alpha1.NodeIdle, refitv1alpha1.NodePrefetching, refitv1alpha1.NodePrefetched, refitv1alpha1.NodeApplying, refitv1alpha1.NodeRollingBack:
	}
	return false
}

// isDrainEnd reports whether the upgrade ended with its drain.
func (o *order) isDrainEnd() bool {
	d := o.n.Status.Drain
	return d != nil && d.Sequence == o.n.Spec.Sequence && (d.Phase == refitv1alpha1.DrainSkipped || d.Phase == refitv1alpha1.DrainFailed)
}

// drain returns the span of the drain for this upgrade, if the node was drained for it.
func (o *order) drain(parent *Span) []Span {
	d := o.n.Status.Drain
	if d == nil || d.StartTime == nil || d.CompletionTime == nil || d.StartTime.Before(o.earliest()) || o.isEarlier(d.StartTime) {
		return nil
	}
	if !o.isDrainEnd() {
		if d.Phase != refitv1alpha1.DrainDrained || d.Sequence >= o.n.Spec.Sequence {
			return nil
		}
		if o.isOfEarlierStage(d.StartTime) {
			return nil
		}
	}
	span := o.step(parent, stepDrain, timeOf(d.StartTime), timeOf(d.CompletionTime))
	span.text(AttributePhase, string(d.Phase))
	if d.Remaining > 0 {
		span.number(AttributeDrainRemaining, int64(d.Remaining))
	}
	if d.Phase == refitv1alpha1.DrainFailed {
		span.fail(refitv1alpha1.ReasonDrainBlocked)
	}
	return []Span{span}
}
