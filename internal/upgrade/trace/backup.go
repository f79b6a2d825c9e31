package trace

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Backup returns the spans of a backup that an operation relies on, once it has ended: storing and
// trying it in the stage Backup, and each hop that ran on it in the stage Rehearsal.
func Backup(u *refitv1alpha1.ClusterUpgrade, b *refitv1alpha1.EtcdBackup) []Span {
	if u.Status.Plan == nil || u.UID == "" || b.Labels[refitv1alpha1.LabelOperation] != string(u.UID) || !b.HasEnded() {
		return nil
	}
	o := &stored{u: u, b: b, hop: b.Labels[refitv1alpha1.LabelHop]}
	return append(o.backup(), o.rehearsal()...)
}

// stored is a backup, with its operation.
type stored struct {
	u   *refitv1alpha1.ClusterUpgrade
	b   *refitv1alpha1.EtcdBackup
	hop string
}

func (o *stored) span(parent *Span, activity string) Span {
	s := parent.within(o.u.UID, KindNode, activity+" "+o.b.Status.Node, activity, o.hop, string(o.b.UID))
	s.text(AttributeNode, o.b.Status.Node)
	s.text(AttributeBackup, o.b.Name)
	s.text(AttributeTo, o.hop)
	s.number(AttributeAttempt, o.b.Status.Attempt)
	return s
}

func (o *stored) step(parent *Span, name string, start, end time.Time) Span {
	s := parent.within(o.u.UID, KindStep, name, "step", string(parent.ID[:]), name)
	s.text(AttributeStep, name)
	s.text(AttributeNode, o.b.Status.Node)
	s.Start, s.End = start, end
	return s
}

// backup returns the spans of the stage Backup. Each result has the time at which it was reached,
// and the next one follows it.
func (o *stored) backup() []Span {
	status := &o.b.Status
	parent := parentOf(o.u, refitv1alpha1.StageBackup, o.hop)
	span := o.span(&parent, "back up")
	span.Start = o.b.CreationTimestamp.UTC()
	span.End = span.Start
	out, last := []Span{span}, span.Start
	for _, done := range []struct {
		name string
		at   time.Time
	}{{"store", timeOf(status.Uploaded)}, {"read-back", timeOf(status.ReadBack)}, {"drill", timeOf(status.Drilled)}} {
		if !done.at.IsZero() && !done.at.Before(last) {
			out, last = append(out, o.step(&span, done.name, last, done.at)), done.at
		}
	}
	if e := status.Error; e != nil && status.ReadBack == nil {
		at := e.At.UTC()
		out[0].cover(&Span{Start: at, End: at})
		out[0].fail(e.Reason)
		out[0].text(AttributeFailureClass, string(e.Class))
		out[0].text(AttributeFailureReason, e.Reason)
		out[0].text(AttributeFailureStep, e.Step)
	}
	return covering(out)
}

// rehearsal returns the spans of the stage Rehearsal.
func (o *stored) rehearsal() []Span {
	if len(o.b.Status.Rehearsed) == 0 {
		return nil
	}
	parent := parentOf(o.u, refitv1alpha1.StageRehearsal, o.hop)
	span := o.span(&parent, "rehearse")
	out := []Span{span}
	for i := range o.b.Status.Rehearsed {
		h := &o.b.Status.Rehearsed[i]
		end := h.At.UTC()
		step := o.step(&span, "rehearse "+h.Kubernetes, end.Add(-time.Duration(h.Seconds)*time.Second), end)
		if known := slices.IndexFunc(h.Findings, func(f refitv1alpha1.RehearsalFinding) bool { return !f.Unknown }); known >= 0 {
			step.fail(refitv1alpha1.ReasonRehearsalFailed)
			step.text(AttributeFailureReason, h.Findings[known].Reason)
			out[0].fail(refitv1alpha1.ReasonRehearsalFailed)
		}
		out = append(out, step)
	}
	return covering(out)
}
