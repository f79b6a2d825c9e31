package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// objects are what the metrics are counted from.
type objects struct {
	operations []refitv1alpha1.ClusterUpgrade
	nodes      []refitv1alpha1.NodeUpgrade
}

func (o *objects) unfinished() []*refitv1alpha1.ClusterUpgrade {
	var out []*refitv1alpha1.ClusterUpgrade
	for i := range o.operations {
		if u := &o.operations[i]; !u.HasEnded() {
			out = append(out, u)
		}
	}
	return out
}

// tally counts by a label.
type tally map[string]float64

func (t tally) numbers() []number {
	out := make([]number, 0, len(t))
	for label, value := range t {
		out = append(out, number{label: label, value: value})
	}
	return out
}

func operations(o *objects) []number {
	by := tally{}
	for i := range o.operations {
		phase := o.operations[i].Status.Phase
		if phase == "" {
			phase = refitv1alpha1.PhasePlanning // not reconciled yet
		}
		by[string(phase)]++
	}
	return by.numbers()
}

func nodes(o *objects) []number {
	by := tally{}
	for i := range o.nodes {
		by[stateOf(&o.nodes[i])]++
	}
	return by.numbers()
}

// stateOf is the state of a node's upgrade. A drain is between two orders: the agent has prefetched
// and waits.
func stateOf(u *refitv1alpha1.NodeUpgrade) string {
	if d := u.Status.Drain; d != nil && d.Sequence == u.Spec.Sequence && u.Spec.Permit == refitv1alpha1.PermitPrefetch {
		switch d.Phase {
		case refitv1alpha1.DrainDraining, refitv1alpha1.DrainDrained:
			return stateDraining
		case refitv1alpha1.DrainBlocked:
			return stateDrainBlocked
		case refitv1alpha1.DrainSkipped:
			return stateSkipped
		case refitv1alpha1.DrainFailed:
			return string(refitv1alpha1.NodeFailed)
		}
	}
	if u.Status.Phase == "" {
		return string(refitv1alpha1.NodeIdle)
	}
	return string(u.Status.Phase)
}

func waiting(o *objects) []number {
	by := tally{}
	for _, u := range o.unfinished() {
		ready := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionReady)
		if ready != nil && ready.Reason != refitv1alpha1.ReasonProgressing && ready.Reason != refitv1alpha1.ReasonAborting {
			by[ready.Reason]++
		}
	}
	return by.numbers()
}

// stuckNodes counts the nodes that wait for manual intervention, whether or not others progress.
func stuckNodes(o *objects) []number {
	by := tally{}
	for _, u := range o.unfinished() {
		for i := range u.Status.Waiting {
			if w := &u.Status.Waiting[i]; w.ActionRequired && w.Node != "" {
				by[w.Reason] += 1 + float64(w.MoreNodes)
			}
		}
	}
	return by.numbers()
}

// lastProgress is the newest time at which an unfinished operation, a drain or a step changed.
func lastProgress(o *objects) []number {
	var last time.Time
	newer := func(at *metav1.Time) {
		if at != nil && at.After(last) {
			last = at.Time
		}
	}
	unfinished := o.unfinished()
	for _, u := range unfinished {
		newer(&u.CreationTimestamp)
		for i := range u.Status.Conditions {
			newer(&u.Status.Conditions[i].LastTransitionTime)
		}
		for i := range u.Status.Waiting {
			newer(u.Status.Waiting[i].Since)
		}
	}
	if len(unfinished) == 0 {
		return nil
	}
	for i := range o.nodes {
		status := &o.nodes[i].Status
		if d := status.Drain; d != nil {
			newer(d.StartTime)
			newer(d.CompletionTime)
		}
		for j := range status.Steps {
			newer(status.Steps[j].StartTime)
			newer(status.Steps[j].CompletionTime)
		}
	}
	return []number{{value: float64(last.Unix())}}
}

func stalledSince(o *objects) []number {
	var since time.Time
	for _, u := range o.unfinished() {
		c := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionStalled)
		if c != nil && c.Status == metav1.ConditionTrue && (since.IsZero() || c.LastTransitionTime.Time.Before(since)) {
			since = c.LastTransitionTime.Time
		}
	}
	if since.IsZero() {
		return nil
	}
	return []number{{value: float64(since.Unix())}}
}

func stepDurations(o *objects) []number {
	by := map[string][]float64{}
	for i := range o.nodes {
		for _, step := range o.nodes[i].Status.Steps {
			if step.StartTime != nil && step.CompletionTime != nil {
				by[step.Name] = append(by[step.Name], step.CompletionTime.Sub(step.StartTime.Time).Seconds())
			}
		}
	}
	out := make([]number, 0, len(by))
	for step, durations := range by {
		out = append(out, number{label: step, durations: durations})
	}
	return out
}

func drainDurations(o *objects) []number {
	durations := []float64{}
	for i := range o.nodes {
		if d := o.nodes[i].Status.Drain; d != nil && d.Phase == refitv1alpha1.DrainDrained && d.StartTime != nil && d.CompletionTime != nil {
			durations = append(durations, d.CompletionTime.Sub(d.StartTime.Time).Seconds())
		}
	}
	return []number{{durations: durations}}
}
