package progress

import cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"

// NewNodeRow returns the state of a node in short. It is an extract of the node's Explanation, so
// that a list never contradicts the details.
func NewNodeRow(clusterName, command string, k Known) cliv1alpha1.NodeRow {
	e := NewExplanation(clusterName, command, k)
	row := cliv1alpha1.NodeRow{
		Node: e.Node, ControlPlane: e.Host.ControlPlane, Kubelet: e.Host.Kubelet, Ready: e.Host.Ready, Cordon: e.Host.Cordon, Agent: e.Host.Agent,
		State: e.State, Message: e.Message,
	}
	if p := e.Progress; p != nil {
		row.Activity, row.Step, row.Since, row.Remaining, row.Blockers = p.Activity, p.Step, p.Since, p.Remaining, len(p.Blockers)
	}
	return row
}
