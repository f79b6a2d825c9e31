package output

import (
	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// hostOf is what the Node and its report say.
func hostOf(k *Known) HostFacts {
	_, controlPlane := k.Node.Labels[controlPlaneLabel]
	out := HostFacts{ControlPlane: controlPlane, Kubelet: k.Node.Status.NodeInfo.KubeletVersion}
	for _, c := range k.Node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			out.Ready, out.ReadySince = c.Status == corev1.ConditionTrue, c.LastTransitionTime.UTC()
			if !out.Ready {
				out.ReadySays = c.Message
			}
		}
	}
	if k.Node.Spec.Unschedulable {
		out.Cordon = CordonOther
		if k.Node.Annotations[refitv1alpha1.AnnotationCordonedBy] != "" {
			out.Cordon = CordonRefit
		}
	}
	if k.Report != nil {
		out.Agent, out.ReportedAt = k.Report.Status.AgentVersion, timeOf(k.Report.Status.ObservedAt)
	}
	return out
}

// order adds what the node's agent was ordered and how far it is.
func (e *Explanation) order(order *refitv1alpha1.NodeUpgrade) {
	if order == nil {
		return
	}
	spec, status := &order.Spec, &order.Status
	e.Order = &ExplainOrder{
		Operation: spec.Operation.Name, Permit: string(spec.Permit), Release: spec.Release.Name, Attempt: spec.Attempt,
		Answered: answered(order), Phase: string(status.Phase),
	}
	if d := status.Drain; d != nil && d.Sequence == spec.Sequence {
		e.Drain = &ExplainDrain{Phase: string(d.Phase), Remaining: int(d.Remaining), StartedAt: timeOf(d.StartedAt), FinishedAt: timeOf(d.FinishedAt)}
		for _, b := range d.Blockers {
			e.Drain.Blockers = append(e.Drain.Blockers, Blocker{Pod: b.Pod, Reason: b.Reason})
		}
	}
	for _, s := range status.Steps {
		e.Steps = append(e.Steps, ExplainStep{Name: s.Name, State: string(s.State), StartedAt: timeOf(s.StartedAt), FinishedAt: timeOf(s.FinishedAt)})
	}
	if err := status.Error; err != nil {
		e.Error = &ExplainError{
			Class: string(err.Class), Reason: err.Reason, Step: err.Step, Message: err.Message, Remedy: err.Remedy, LogTail: err.LogTail, At: err.At.UTC(),
		}
	}
}
