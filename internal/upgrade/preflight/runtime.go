package preflight

import (
	"fmt"
	"strings"
)

// runtimeUnsupported finds other container runtimes than containerd. No waiver helps: the agent
// imports and pins images through containerd.
func runtimeUnsupported(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		runtime := n.runtime()
		if !n.touched || runtime == "" || runtime == "containerd" {
			continue
		}
		found = append(found, Finding{
			Object:  n.object(),
			Message: fmt.Sprintf("%s uses the container runtime %s, and Refit supports only containerd", n.Name, runtime),
			Remedy:  orLeaveOut(n, fmt.Sprintf("Move %s to containerd, or upgrade it with kubeadm.", n.Name)),
		})
	}
	return found
}

// runtime is the name of the container runtime, empty if neither the kubelet nor the agent reports
// it.
func (n *node) runtime() string {
	if name, _, found := strings.Cut(n.Runtime, "://"); found {
		return name
	}
	if n.Report == nil || n.Report.CRI == nil {
		return ""
	}
	name, _, _ := strings.Cut(n.Report.CRI.Runtime, " ")
	return name
}
