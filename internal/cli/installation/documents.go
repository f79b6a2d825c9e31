package installation

import (
	"cmp"
	"maps"
	"slices"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/install"
)

// objectsOf lists the changes to objects.
func objectsOf(changes []install.Change) []cliv1alpha1.Object {
	out := []cliv1alpha1.Object{}
	for _, c := range changes {
		out = append(out, cliv1alpha1.Object{
			Kind: cmp.Or(c.Kind, c.Resource), Namespace: c.Namespace, Name: c.Name, Action: string(c.Action), Fields: c.Fields, Unchecked: c.Unchecked,
		})
	}
	return out
}

// hostsOf lists the progress on hosts.
func hostsOf(nodes []install.NodeProgress) []cliv1alpha1.HostState {
	out := make([]cliv1alpha1.HostState, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, cliv1alpha1.HostState{Node: n.Node, State: string(n.State), Why: n.Why})
	}
	return out
}

// controllerOf returns the progress of the controller or of refit-components, nil where it is not
// installed.
func controllerOf(p *install.ControllerProgress) *cliv1alpha1.ControllerState {
	if p == nil {
		return nil
	}
	out := &cliv1alpha1.ControllerState{Wanted: p.Wanted, Available: p.Available}
	for _, pod := range p.Pods {
		out.Pods = append(out.Pods, cliv1alpha1.PodState{Pod: pod.Pod, Node: pod.Node, State: string(pod.State), Why: pod.Why})
	}
	return out
}

// installOf returns the document about an installation before it is applied.
func installOf(cluster string, dryRun bool, existing install.Existing, o install.Options) *cliv1alpha1.Install {
	out := &cliv1alpha1.Install{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindInstall, Cluster: cluster, Version: o.Version, Former: existing.Version,
		DryRun: dryRun, Standalone: o.Standalone, AgentImage: o.Agent, ControllerImage: o.Controller, ComponentsImage: o.Components, Keys: []string{},
	}
	if o.Standalone {
		out.ControllerImage = ""
	}
	for _, name := range slices.Sorted(maps.Keys(o.Keys)) {
		if key, err := artifact.ParsePublic([]byte(o.Keys[name])); err == nil {
			name = key.ID
		}
		out.Keys = append(out.Keys, name)
	}
	return out
}

// uninstallOf returns the document about the objects to remove.
func uninstallOf(cluster string, s install.Survey) *cliv1alpha1.Uninstall {
	out := &cliv1alpha1.Uninstall{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindUninstall, Cluster: cluster, Version: s.Version, Installed: s.Installed(),
		Objects: objectsOf(s.Objects), Content: map[string]int{}, Cordoned: s.Cordoned,
	}
	for _, c := range s.Content {
		out.Content[c.Resource] = c.Number
	}
	for _, node := range s.Nodes {
		out.Nodes = append(out.Nodes, cliv1alpha1.HostState{Node: node, State: cliv1alpha1.HostWaiting})
	}
	for _, node := range s.Unreachable {
		out.Nodes = append(out.Nodes, cliv1alpha1.HostState{Node: node, State: cliv1alpha1.HostUnreachable})
	}
	return out
}
