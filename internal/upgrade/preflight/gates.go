package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// removedFeatureGate looks wherever gates are set: a component that does not know a gate, or cannot have it at this value, does not start.
func removedFeatureGate(v *view) []Finding {
	var found []Finding
	v.gateSets(func(component string, gates map[string]bool, hops []hop, s setting) {
		for _, name := range slices.Sorted(maps.Keys(gates)) {
			value := gates[name]
			s.what = fmt.Sprintf("the feature gate %s=%t", name, value)
			found = append(found, v.judge(s, hops, "refuses", func(f *kubefacts.Facts) bool {
				return f.SetGate(component, name, value) != kubefacts.GateAccepted
			})...)
		}
	})
	return found
}

// featureGateIncomplete: a gate that is on and needs others that are off keeps a component from starting.
func featureGateIncomplete(v *view) []Finding {
	var found []Finding
	v.gateSets(func(component string, gates map[string]bool, hops []hop, s setting) {
		if len(gates) == 0 {
			return
		}
		refuses := func(f *kubefacts.Facts) bool { return len(f.BrokenGates(component, gates)) > 0 }
		at, does := v.firstRefusing(hops, refuses)
		if !does {
			return
		}
		var on []string
		off := map[string]bool{}
		for _, broken := range at.facts.BrokenGates(component, gates) {
			on = append(on, broken.Gate.Name)
			for _, name := range broken.Disabled {
				off[name] = true
			}
		}
		s.what = fmt.Sprintf("the feature gate %s off while %s is on", some(sorted(off)), some(on))
		found = append(found, v.judge(s, hops, "refuses", refuses)...)
	})
	return found
}

// gateSets walks over all feature gates of which something is known.
func (v *view) gateSets(visit func(component string, gates map[string]bool, hops []hop, s setting)) {
	v.flagSets(func(component string, flags map[string]string, s setting) {
		visit(component, parseGates(flags["feature-gates"]), v.ahead, s)
	})
	shared := v.kubeletSettings().FeatureGates
	visit(kubefacts.Kubelet, shared, v.kubeletHops(), setting{
		object: kubeletConfig, where: "the cluster's kubelet configuration",
		edit: editKubelet,
	})
	if v.s.Kubeadm != nil && v.movesControlPlane() {
		visit(kubefacts.KubeProxy, v.s.Kubeadm.ProxyGates, v.ahead, setting{
			object: proxyConfig, where: "kube-proxy's configuration",
			edit: "kubectl -n kube-system edit configmap kube-proxy",
		})
	}
	for _, n := range v.reported() {
		if n.Report.Kubelet == nil {
			continue
		}
		own := maps.Clone(n.Report.Kubelet.FeatureGates)
		maps.DeleteFunc(own, func(name string, value bool) bool {
			same, has := shared[name]
			return has && same == value
		})
		visit(kubefacts.Kubelet, own, n.hops, setting{object: n.object(), where: "the kubelet of " + n.Name, edit: kubeletFiles(n)})
	}
}

func kubeletFiles(n *node) string {
	return fmt.Sprintf("look in /var/lib/kubelet/config.yaml, /var/lib/kubelet/kubeadm-flags.env, /etc/default/kubelet and the unit's drop-ins on %s", n.Name)
}

// kubeletHops are the hops at which any kubelet stops.
func (v *view) kubeletHops() []hop {
	if v.movesControlPlane() {
		return v.hops
	}
	return slices.DeleteFunc(slices.Clone(v.hops), func(h hop) bool { return !h.workers })
}

// parseGates reads A=true,B=false. What is no gate is left out: the component would not have started with it.
func parseGates(list string) map[string]bool {
	gates := map[string]bool{}
	for _, item := range items(list) {
		name, text, _ := strings.Cut(item, "=")
		if _, gate, qualified := strings.Cut(name, ":"); qualified { // by the component that it is of
			name = gate
		}
		if value, err := strconv.ParseBool(strings.TrimSpace(text)); err == nil {
			gates[strings.TrimSpace(name)] = value
		}
	}
	return gates
}
