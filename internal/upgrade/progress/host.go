package progress

import (
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Node has the facts of a Kubernetes Node that an Explanation needs.
type Node struct {
	Name         string
	Labels       map[string]string
	ControlPlane bool
	Kubelet      string // its version
	OS           string
	Ready        bool
	ReadySince   time.Time // when Ready last changed
	ReadyMessage string    // of the condition
	Cordoned     bool
	CordonedBy   string // the operation that cordoned it, empty if it was not Refit
}

// hostOf returns the facts of the Node and its report.
func hostOf(k *Known) cliv1alpha1.HostFacts {
	out := cliv1alpha1.HostFacts{ControlPlane: k.Node.ControlPlane, Kubelet: k.Node.Kubelet, Ready: k.Node.Ready, ReadySince: k.Node.ReadySince}
	if !out.Ready {
		out.ReadyMessage = k.Node.ReadyMessage
	}
	switch {
	case k.Node.Cordoned && k.Node.CordonedBy != "":
		out.Cordon = cliv1alpha1.CordonRefit
	case k.Node.Cordoned:
		out.Cordon = cliv1alpha1.CordonOther
	}
	if k.Report != nil {
		out.Agent, out.ReportedAt = k.Report.Status.AgentVersion, k.Report.Status.Observed()
	}
	return out
}

// addOrder adds the newest order to the node's agent, and its progress.
func addOrder(e *cliv1alpha1.Explanation, order *refitv1alpha1.NodeUpgrade) {
	if order == nil {
		return
	}
	spec, status := &order.Spec, &order.Status
	e.Order = &cliv1alpha1.ExplainOrder{
		Operation: spec.Operation.Name, Permit: string(spec.Permit), Release: spec.Release.Name, Attempt: spec.Attempt,
		Answered: answered(order), Phase: string(status.Phase),
	}
	if d := status.Drain; d != nil && d.Sequence == spec.Sequence {
		e.Drain = &cliv1alpha1.ExplainDrain{
			Phase: string(d.Phase), Remaining: int(d.Remaining), StartTime: timeOf(d.StartTime), CompletionTime: timeOf(d.CompletionTime),
		}
		for _, b := range d.Blockers {
			e.Drain.Blockers = append(e.Drain.Blockers, cliv1alpha1.Blocker(b))
		}
	}
	e.Steps, e.Error = stepsOf(status.Steps), errorOf(status.Error)
}
