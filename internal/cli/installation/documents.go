package installation

import (
	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/install"
)

// Objects lists the changes to objects.
func Objects(changes []install.Change) []cliv1alpha1.Object {
	out := []cliv1alpha1.Object{}
	for _, c := range changes {
		kind := c.Kind
		if kind == "" {
			kind = c.Resource
		}
		out = append(out, cliv1alpha1.Object{Kind: kind, Namespace: c.Namespace, Name: c.Name, Action: string(c.Action), Fields: c.Fields, Unchecked: c.Unchecked})
	}
	return out
}

// Hosts lists the progress on hosts.
func Hosts(nodes []install.NodeProgress) []cliv1alpha1.HostState {
	out := make([]cliv1alpha1.HostState, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, cliv1alpha1.HostState{Node: n.Node, State: string(n.State), Why: n.Why})
	}
	return out
}

// Controller returns the progress of the controller, nil where none is installed.
func Controller(p *install.ControllerProgress) *cliv1alpha1.ControllerState {
	if p == nil {
		return nil
	}
	out := &cliv1alpha1.ControllerState{Wanted: p.Wanted, Available: p.Available}
	for _, pod := range p.Pods {
		out.Pods = append(out.Pods, cliv1alpha1.PodState{Pod: pod.Pod, Node: pod.Node, State: string(pod.State), Why: pod.Why})
	}
	return out
}
