package text_test

import (
	"fmt"
	"strings"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func installed() *cliv1alpha1.Install {
	return &cliv1alpha1.Install{
		Cluster: "prod", Version: "v0.2.0", Complete: true, AgentImage: "ghcr.io/refit-dev/refit-agent:v0.2.0", ControllerImage: "ghcr.io/refit-dev/refit-controller:v0.2.0",
		Keys: []string{"SHA256:jSKFecLCqQCdLkHFSi8WXfgP6skLMk0RzZTgYIvq6Gc"},
		Objects: []cliv1alpha1.Object{
			{Kind: "Namespace", Name: "refit-system", Action: "Created"}, {Kind: "ConfigMap", Namespace: "refit-agent", Name: "refit-agent", Action: "Created"},
		},
		Nodes:      []cliv1alpha1.HostState{{Node: "cp-1", State: "Done"}, {Node: "worker-1", State: "Done"}},
		Controller: &cliv1alpha1.ControllerState{Wanted: 2, Available: 2},
	}
}

// The output after an install.
func TestInstallPages(t *testing.T) {
	standalone := installed()
	standalone.Standalone, standalone.Controller, standalone.ControllerImage, standalone.Former = true, nil, "", "v0.1.0"
	standalone.Nodes = append(standalone.Nodes, cliv1alpha1.HostState{Node: "worker-2", State: "Unreachable", Why: "NodeStatusUnknown: Kubelet stopped posting node status."})
	standalone.Objects = append(standalone.Objects, cliv1alpha1.Object{Kind: "Deployment", Namespace: "refit-system", Name: "refit-controller", Action: "Removed"})
	late := installed()
	late.Complete, late.Controller.Available = false, 0
	late.Controller.Pods = []cliv1alpha1.PodState{
		{Pod: "refit-controller-abc", State: "Failing", Why: "ImagePullBackOff: Back-off pulling image"}, {Pod: "refit-controller-def", State: "Pulling"},
	}
	for i := range 25 {
		late.Nodes = append(late.Nodes, cliv1alpha1.HostState{Node: fmt.Sprintf("worker-%d", i+2), State: "Failing", Why: "CrashLoopBackOff: refit-agent: the disk of this host is full"})
	}
	late.Nodes[2] = cliv1alpha1.HostState{Node: "worker-2", State: "Waiting"}
	again := installed()
	again.Former, again.Complete, again.Nodes = "v0.1.0", false, []cliv1alpha1.HostState{
		{Node: "cp-1", State: "Failing", Why: "ImagePullBackOff: Back-off pulling image"}, {Node: "worker-1", State: "Waiting"},
	}
	components := installed()
	components.ComponentsImage, components.Components = "ghcr.io/refit-dev/refit-components:v0.2.0", &cliv1alpha1.ControllerState{Wanted: 2, Available: 1}
	components.Components.Pods = []cliv1alpha1.PodState{{Pod: "refit-components-abc", Node: "cp-1", State: "Done"}, {Pod: "refit-components-def", State: "Pulling"}}
	components.Complete = false
	dry := installed()
	dry.DryRun, dry.Nodes, dry.Controller, dry.Complete, dry.Former = true, nil, nil, false, "v0.1.0"
	dry.Objects = []cliv1alpha1.Object{
		{Kind: "Namespace", Name: "refit-agent", Action: "Created"},
		{Kind: "DaemonSet", Namespace: "refit-agent", Name: "refit-agent", Action: "Created", Unchecked: true},
		{Kind: "ClusterRole", Name: "refit-node", Action: "Unchanged"},
		{Kind: "Deployment", Namespace: "refit-system", Name: "refit-controller", Action: "Changed", Fields: []string{
			"metadata.annotations[deprecated]", "spec.replicas", "spec.template.metadata.annotations[refit.dev/template]", "spec.template.spec.containers[0].image",
			"spec.template.spec.containers[0].resources.requests.cpu", "spec.template.spec.priorityClassName",
		}},
		{Kind: "ConfigMap", Namespace: "refit-system", Name: "former", Action: "Removed"},
		{Kind: "PodDisruptionBudget", Namespace: "refit-system", Name: "refit-controller", Action: "Left"},
	}
	for name, page := range map[string]*cliv1alpha1.Install{"done": installed(), "standalone": standalone, "late": late, "dry-run": dry, "components": components, "again-late": again} {
		t.Run(name, func(t *testing.T) {
			golden(t, "install-"+name, text.Install(page, text.Page{Width: 100}, "refit"), 100)
		})
	}
}

func removed() *cliv1alpha1.Uninstall {
	return &cliv1alpha1.Uninstall{
		Cluster: "prod", Version: "v0.2.0", Installed: true,
		Objects: []cliv1alpha1.Object{
			{Kind: "DaemonSet", Namespace: "refit-agent", Name: "refit-agent", Action: "Removed"},
			{Kind: "Namespace", Name: "refit-agent", Action: "Removed"},
			{Kind: "ClusterRole", Name: "refit-viewer", Action: "Left"},
		},
		Content: map[string]int{"clusterupgrades": 3, "nodereports": 5000, "clusterreleases": 0, "components": 2}, Cordoned: []string{"worker-7"},
		Nodes: []cliv1alpha1.HostState{{Node: "cp-1", State: "Waiting"}, {Node: "worker-1", State: "Unreachable"}},
	}
}

func TestUninstallPages(t *testing.T) {
	done := removed()
	done.Done = true
	done.Nodes = []cliv1alpha1.HostState{{Node: "cp-1", State: "Done"}, {Node: "worker-1", State: "Unreachable", Why: "NodeStatusUnknown: Kubelet stopped posting node status."}}
	for name, page := range map[string]*cliv1alpha1.Uninstall{"asked": removed(), "done": done, "none": {Cluster: "prod"}} {
		t.Run(name, func(t *testing.T) {
			golden(t, "uninstall-"+name, text.Uninstall(page, text.Page{Width: 100}, "refit uninstall"), 100)
		})
	}
}

func TestTheNextStepsOfAnInstallationWithComponents(t *testing.T) {
	i := installed()
	if got := text.Install(i, text.Page{Width: 100}, "refit"); strings.Contains(got, "components list") {
		t.Errorf("without refit-components:\n%s", got)
	}
	i.ComponentsImage = "ghcr.io/refit-dev/refit-components:v0.2.0"
	if got := text.Install(i, text.Page{Width: 100}, "refit"); !strings.Contains(got, "refit components list\n") {
		t.Errorf("with refit-components:\n%s", got)
	}
}
