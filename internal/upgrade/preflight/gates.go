package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// removedFeatureGate: a component does not start with an unknown gate, or with a value that is
// locked.
func removedFeatureGate(v *view) []Finding {
	var found []Finding
	v.gateSets(func(component string, gates, _ map[string]bool, hops []hop, s setting) {
		for _, name := range slices.Sorted(maps.Keys(gates)) {
			value := gates[name]
			s.what = fmt.Sprintf("feature gate %s=%t", name, value)
			found = append(found, v.judge(s, hops, invalid, func(f *kubefacts.Facts) bool {
				return f.SetGate(component, name, value) != kubefacts.GateAccepted
			})...)
		}
	})
	return found
}

// featureGateIncomplete: a component does not start if an enabled gate depends on a disabled one.
func featureGateIncomplete(v *view) []Finding {
	var found []Finding
	v.gateSets(func(component string, gates, effective map[string]bool, hops []hop, s setting) {
		if len(gates) == 0 {
			return
		}
		rejects := func(f *kubefacts.Facts) bool { return len(f.BrokenGates(component, effective)) > 0 }
		at, rejected := v.firstRejecting(hops, rejects)
		if !rejected {
			return
		}
		var on []string
		off := map[string]bool{}
		for _, broken := range at.facts.BrokenGates(component, effective) {
			on = append(on, broken.Gate.Name)
			for _, name := range broken.Disabled {
				off[name] = true
			}
		}
		s.what = fmt.Sprintf("feature gate %s=false while gates that depend on it are enabled (%s)", joinNames(sorted(off)), joinNames(on))
		found = append(found, v.judge(s, hops, invalid, rejects)...)
	})
	return found
}

// gateSets visits the feature gates of every component: those that are set in one place, and those
// that the component has, which a kubelet takes from several places.
func (v *view) gateSets(visit func(component string, gates, effective map[string]bool, hops []hop, s setting)) {
	v.flagSets(func(component string, flags map[string]string, s setting) {
		gates := parseGates(flags["feature-gates"])
		visit(component, gates, gates, v.ahead, s)
	})
	shared := v.kubeletSettings().FeatureGates
	visit(kubefacts.Kubelet, shared, shared, v.kubeletHops(), setting{
		object: kubeletConfig, where: "the cluster's kubelet configuration",
		edit: editKubelet,
	})
	if v.s.Kubeadm != nil && v.movesControlPlane() {
		visit(kubefacts.KubeProxy, v.s.Kubeadm.ProxyGates, v.s.Kubeadm.ProxyGates, v.ahead, setting{
			object: proxyConfig, where: "the kube-proxy configuration",
			edit: "`kubectl -n kube-system edit configmap kube-proxy`",
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
		where := setting{object: n.object(), where: "the kubelet on " + n.Name, edit: kubeletFiles(n)}
		visit(kubefacts.Kubelet, own, n.Report.Kubelet.FeatureGates, n.hops, where)
	}
}

func kubeletFiles(n *node) string {
	return fmt.Sprintf("check /var/lib/kubelet/config.yaml, /var/lib/kubelet/kubeadm-flags.env, /etc/default/kubelet and the systemd drop-ins on %s", n.Name)
}

// kubeletHops returns the hops at which any kubelet is upgraded.
func (v *view) kubeletHops() []hop {
	if v.movesControlPlane() {
		return v.hops
	}
	return slices.DeleteFunc(slices.Clone(v.hops), func(h hop) bool { return !h.workers })
}

// parseGates parses A=true,B=false and skips invalid items, with which the component would not have
// started.
func parseGates(list string) map[string]bool {
	gates := map[string]bool{}
	for _, item := range items(list) {
		name, text, _ := strings.Cut(item, "=")
		if _, gate, qualified := strings.Cut(name, ":"); qualified { // as kubelet:SomeGate
			name = gate
		}
		if value, err := strconv.ParseBool(strings.TrimSpace(text)); err == nil {
			gates[strings.TrimSpace(name)] = value
		}
	}
	return gates
}
