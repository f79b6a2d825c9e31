package preflight

import (
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

const apiServerKind = "API server "

func apiServerObject(n *node) string { return apiServerKind + n.Name }

func apiServersMixed(v *view) []Finding {
	if v.oldest == v.newest {
		return nil
	}
	f := Finding{
		Severity: Warn,
		Message:  fmt.Sprintf("API servers run %s and %s: an earlier upgrade did not finish", v.oldest, v.newest),
		Remedy:   fmt.Sprintf("This upgrade fixes the skew. To fix it first, run `kubeadm upgrade node` on the nodes at %s.", v.oldest),
	}
	if !skew.APIServersFit(v.oldest, v.newest) {
		f.Severity = Block
		f.Message = fmt.Sprintf("API servers run %s and %s: they must be at most one minor version apart", v.oldest, v.newest)
		f.Remedy = fmt.Sprintf("Upgrade the nodes at %s to %s first. On each of them, run `kubeadm upgrade node`", v.oldest, v.newest)
	} else if v.movesControlPlane() && v.Path.To.Before(v.newest) {
		f.Severity = Block
		f.Message = fmt.Sprintf("an API server is already at %s: Kubernetes does not support a downgrade to %s", v.newest, v.Path.To)
		f.Remedy = fmt.Sprintf("Choose %s or a later version.", v.newest)
	}
	return []Finding{f}
}

// apiServerNotReady prefers the readiness that the server itself reports. The agent's report, which
// may be older, and the readiness of the pod are fallbacks.
func apiServerNotReady(v *view) []Finding {
	var found []Finding
	for _, n := range v.controlPlane() {
		server := v.s.APIServer(n.Name)
		message, live := fmt.Sprintf("the API server on %s is not ready", n.Name), true
		switch {
		case server != nil && server.Ready == cluster.Yes:
			continue
		case server != nil && server.Ready == cluster.No && len(server.Failing) > 0:
			message += ": " + joinNames(server.Failing)
		case server != nil && server.Ready == cluster.No:
		case n.Report != nil && n.Report.APIServer != nil && !n.Report.APIServer.Ready:
			live = false
		case v.staticNotReady(n, kubefacts.KubeAPIServer):
			message = fmt.Sprintf("the API server's pod on %s is not ready", n.Name)
		default:
			continue
		}
		found = append(found, Finding{
			Object:  apiServerObject(n),
			live:    live,
			Message: message,
			Remedy:  fmt.Sprintf("Check its logs: `kubectl -n kube-system logs kube-apiserver-%s`, or `crictl logs CONTAINER` on %s.", n.Name, n.Name),
		})
	}
	return found
}

// staticNotReady reports whether a static pod is not ready. Kubernetes marks every pod on an
// unreachable node as not ready, whatever their state; the node has its own finding.
func (v *view) staticNotReady(n *node, component string) bool {
	pod, has := n.Static[component]
	return has && !pod.Ready && n.IsReady()
}

// apiServerUnknown is only a warning if the pod is ready: its readiness probe queries the same
// endpoint.
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
			live:    true,
			Object:  apiServerObject(n),
			Message: fmt.Sprintf("the readiness of the API server on %s is unknown%s", n.Name, why),
			Remedy: fmt.Sprintf("On %s, run `curl -k https://localhost:6443/readyz`. With an agent on the node, Refit checks it directly.",
				n.Name),
		}
		if n.Static[kubefacts.KubeAPIServer].Ready {
			f.Severity = Warn
			f.Message += "; its pod is ready"
		}
		found = append(found, f)
	}
	return found
}

func controlPlaneNodeNotReady(v *view) []Finding {
	controlPlane := v.controlPlane()
	if len(controlPlane) == 0 {
		return []Finding{{
			Message: "no node has the label of control plane nodes, so Refit can neither upgrade nor observe the control plane",
			Remedy:  "Label each control plane node: `kubectl label node NAME node-role.kubernetes.io/control-plane=`",
		}}
	}
	if !v.movesControlPlane() {
		return nil
	}
	var found []Finding
	for _, n := range controlPlane {
		if !n.IsReady() {
			found = append(found, Finding{
				Unknown: n.Ready == cluster.Unknown,
				Object:  n.object(),
				Message: "control plane node " + notReady(v, n),
				Remedy:  fmt.Sprintf("Fix the node first: `kubectl describe node %s`, and on %s: `systemctl status kubelet`", n.Name, n.Name),
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
				Remedy:   fmt.Sprintf("Check its logs: `kubectl -n kube-system logs %s-%s`", component, n.Name),
			}
			if ready == 0 {
				f.Severity = Block
				f.Message += ", and no other instance is ready"
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
		missing, inAPI := map[string]bool{}, map[string]bool{}
		for _, component := range []string{kubefacts.KubeAPIServer, kubefacts.KubeControllerManager, kubefacts.KubeScheduler} {
			if _, has := n.Static[component]; !has {
				missing[component], inAPI[component] = true, true
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
				live:    inAPI[component],
				Message: fmt.Sprintf("%s has no static pod %s", n.Name, component),
				Remedy: fmt.Sprintf("Restore its manifest in /etc/kubernetes/manifests on %s, from a backup or with `kubeadm init phase %s`.",
					n.Name, kubeadmPhase(component)),
			})
		}
	}
	return found
}

// kubeadmPhase returns the phase of kubeadm init that writes a manifest.
func kubeadmPhase(component string) string {
	if component == "etcd" {
		return "etcd local"
	}
	return "control-plane " + strings.TrimPrefix(component, "kube-")
}

func singleControlPlane(v *view) []Finding {
	if nodes := v.controlPlane(); v.movesControlPlane() && len(nodes) == 1 && nodes[0].touched {
		return []Finding{{
			Message: fmt.Sprintf("%s is the only control plane node: the API is unavailable while it is upgraded", nodes[0].Name),
			Remedy:  "No action is required: running pods are not affected. For a highly available API, add two more control plane nodes.",
		}}
	}
	return nil
}
