package preflight

import (
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

func apiServerObject(n *node) string { return "API server " + n.Name }

func apiServersMixed(v *view) []Finding {
	if v.oldest == v.newest {
		return nil
	}
	f := Finding{
		Severity: Warn,
		Message:  fmt.Sprintf("API servers run %s and %s: an earlier upgrade was not finished", v.oldest, v.newest),
		Remedy:   fmt.Sprintf("This upgrade finishes it. To finish it first, run kubeadm upgrade node on the nodes that are still at %s.", v.oldest),
	}
	if !skew.APIServersFit(v.oldest, v.newest) {
		f.Severity = Block
		f.Message = fmt.Sprintf("API servers run %s and %s: they may be at most one minor version apart", v.oldest, v.newest)
		f.Remedy = fmt.Sprintf("Bring the nodes at %s to %s first: kubeadm upgrade node (on each of them).", v.oldest, v.newest)
	} else if v.movesControlPlane() && v.Path.To.Before(v.newest) {
		f.Severity = Block
		f.Message = fmt.Sprintf("an API server is at %s already: Kubernetes cannot go back to %s", v.newest, v.Path.To)
		f.Remedy = fmt.Sprintf("Choose %s or a later version.", v.newest)
	}
	return []Finding{f}
}

// apiServerNotReady counts the server's own answer. Without one it counts what others know: its agent, which may have asked a while ago, and its pod's
// readiness probe.
func apiServerNotReady(v *view) []Finding {
	var found []Finding
	for _, n := range v.controlPlane() {
		server := v.s.APIServer(n.Name)
		var message string
		switch {
		case server != nil && server.Ready == cluster.Yes:
			continue
		case server != nil && server.Ready == cluster.No && len(server.Failing) > 0:
			message = fmt.Sprintf("the API server on %s is not ready: %s", n.Name, some(server.Failing))
		case server != nil && server.Ready == cluster.No,
			n.Report != nil && n.Report.APIServer != nil && !n.Report.APIServer.Ready:
			message = fmt.Sprintf("the API server on %s is not ready", n.Name)
		case v.staticNotReady(n, kubefacts.KubeAPIServer):
			message = fmt.Sprintf("the API server's pod on %s is not ready", n.Name)
		default:
			continue
		}
		found = append(found, Finding{
			Object:  apiServerObject(n),
			Message: message,
			Remedy:  fmt.Sprintf("Look why: kubectl -n kube-system logs kube-apiserver-%s, or crictl logs (on %s).", n.Name, n.Name),
		})
	}
	return found
}

// staticNotReady says that a static pod is known not to be ready. With no word from its node Kubernetes calls every pod on it not ready, which says nothing of
// the pod: that the node is silent is a finding of its own.
func (v *view) staticNotReady(n *node, component string) bool {
	pod, has := n.Static[component]
	return has && !pod.Ready && n.IsReady()
}

// apiServerUnknown is a server that nobody could ask. Its pod's readiness probe asks the same question, and softens the verdict.
func apiServerUnknown(v *view) []Finding {
	var found []Finding
	for _, n := range v.controlPlane() {
		server := v.s.APIServer(n.Name)
		known := (server != nil && server.Ready != cluster.Unknown) || (n.Report != nil && n.Report.APIServer != nil)
		if known || v.staticNotReady(n, kubefacts.KubeAPIServer) {
			continue
		}
		why := ""
		if server != nil && server.Error != "" {
			why = ": " + server.Error
		}
		f := Finding{
			Unknown: true,
			Object:  apiServerObject(n),
			Message: fmt.Sprintf("the API server on %s could not be asked%s", n.Name, why),
			Remedy: fmt.Sprintf("Ask it yourself: curl -k https://localhost:6443/readyz (on %s). With an agent on the node, Refit asks it directly.",
				n.Name),
		}
		if n.Static[kubefacts.KubeAPIServer].Ready {
			f.Severity = Warn
			f.Message += "; its pod says that it is ready"
		}
		found = append(found, f)
	}
	return found
}

func controlPlaneNodeNotReady(v *view) []Finding {
	if !v.movesControlPlane() {
		return nil
	}
	var found []Finding
	for _, n := range v.controlPlane() {
		if !n.IsReady() {
			found = append(found, Finding{
				Unknown: n.Ready == cluster.Unknown,
				Object:  n.object(),
				Message: notReady(v, n) + ", and it is of the control plane",
				Remedy:  fmt.Sprintf("Bring the node back first: kubectl describe node %s; systemctl status kubelet (on %s).", n.Name, n.Name),
			})
		}
	}
	return found
}

func controlPlanePodNotReady(v *view) []Finding {
	if !v.movesControlPlane() {
		return nil
	}
	var found []Finding
	for _, component := range []string{kubefacts.KubeControllerManager, kubefacts.KubeScheduler} {
		ready := 0
		var broken []*node
		for _, n := range v.controlPlane() {
			pod, has := n.Static[component]
			if has && pod.Ready {
				ready++
			} else if has {
				broken = append(broken, n)
			}
		}
		for _, n := range broken {
			f := Finding{
				Severity: Warn,
				Object:   podObject(component, n),
				Message:  fmt.Sprintf("%s on %s is not ready", component, n.Name),
				Remedy:   fmt.Sprintf("Look why: kubectl -n kube-system logs %s-%s", component, n.Name),
			}
			if ready == 0 {
				f.Severity = Block
				f.Message += ", nor is it anywhere else: nobody does its work"
			}
			found = append(found, f)
		}
	}
	return found
}

func staticPodMissing(v *view) []Finding {
	if !v.movesControlPlane() {
		return nil
	}
	var found []Finding
	for _, n := range v.controlPlane() {
		missing := map[string]bool{}
		for _, component := range []string{kubefacts.KubeAPIServer, kubefacts.KubeControllerManager, kubefacts.KubeScheduler} {
			if _, has := n.Static[component]; !has {
				missing[component] = true
			}
		}
		if n.Report != nil && n.Report.Drift != nil {
			for _, manifest := range n.Report.Drift.MissingManifests {
				missing[manifest] = true
			}
		}
		for _, component := range sorted(missing) {
			found = append(found, Finding{
				Object:  n.object(),
				Message: fmt.Sprintf("%s has no static pod %s", n.Name, component),
				Remedy: fmt.Sprintf("Put its manifest back into /etc/kubernetes/manifests on %s, from a copy or with kubeadm init phase %s.",
					n.Name, kubeadmPhase(component)),
			})
		}
	}
	return found
}

// kubeadmPhase is the phase of kubeadm init that writes a manifest.
func kubeadmPhase(component string) string {
	if component == "etcd" {
		return "etcd local"
	}
	return "control-plane " + strings.TrimPrefix(component, "kube-")
}

func singleControlPlane(v *view) []Finding {
	if nodes := v.controlPlane(); v.movesControlPlane() && len(nodes) == 1 && nodes[0].touched {
		return []Finding{{
			Message: fmt.Sprintf("%s is the only control plane node: the API is away while it is upgraded", nodes[0].Name),
			Remedy:  "Nothing needs to be done: running pods go on. For an API without a gap, add two more control plane nodes.",
		}}
	}
	return nil
}
