package progress

import (
	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// NewNodeRow returns the state of a node in short. It is an extract of the node's Explanation, so
// that a list never contradicts the details.
func NewNodeRow(clusterName, command string, k Known) cliv1alpha1.NodeRow {
	e := NewExplanation(clusterName, command, k)
	row := cliv1alpha1.NodeRow{
		Node: e.Node, ControlPlane: e.Host.ControlPlane, Kubelet: e.Host.Kubelet, Ready: e.Host.Ready, Cordon: e.Host.Cordon, Agent: e.Host.Agent,
		State: e.State, Message: e.Message,
	}
	if k.Operation != nil && ours(&k) && answered(k.Order) {
		row.From, row.RolledBack = versionBefore(&k), k.Order.Status.Phase == refitv1alpha1.NodeRolledBack
	}
	if p := e.Progress; p != nil {
		row.Activity, row.Step, row.Since, row.Remaining, row.Blockers = p.Activity, p.Step, p.Since, p.Remaining, len(p.Blockers)
	}
	return row
}

// versionBefore is the version of a node that the upgrade has changed. A kubelet is never newer
// than the API server, so that all workers had the same version if the oldest had that of the
// control plane.
func versionBefore(k *Known) string {
	p := k.Operation.Status.Plan
	switch {
	case p == nil, k.Order.Status.Phase != refitv1alpha1.NodeSucceeded && k.Order.Status.Phase != refitv1alpha1.NodeRolledBack:
		return ""
	case !k.Node.ControlPlane && p.WorkersFrom != p.From:
		return ""
	}
	return p.From
}
