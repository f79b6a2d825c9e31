package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

const (
	kubeadmConfig = "ConfigMap kube-system/kubeadm-config"
	kubeletConfig = "ConfigMap kube-system/kubelet-config"
	proxyConfig   = "ConfigMap kube-system/kube-proxy"
	dnsConfig     = "ConfigMap kube-system/coredns"
	editKubeadm   = "kubectl -n kube-system edit configmap kubeadm-config"
	editKubelet   = "kubectl -n kube-system edit configmap kubelet-config"
)

// kubeadmConfigMissing: kubeadm also refuses to go on without the kubelets' configuration. Those of kube-proxy and CoreDNS may be absent, and it leaves
// both alone then.
func kubeadmConfigMissing(v *view) []Finding {
	if v.s.Kubeadm != nil {
		return kubeletConfigMissing(v)
	}
	return []Finding{{
		Object:  kubeadmConfig,
		Message: "there is no kubeadm configuration in the cluster: Refit upgrades clusters that kubeadm made",
		Remedy:  "If kubeadm made this cluster, write its configuration back: kubeadm init phase upload-config all --config FILE",
	}}
}

func kubeletConfigMissing(v *view) []Finding {
	missing := func(gap cluster.Gap) bool {
		return gap.Part == cluster.PartKubeadm && gap.Object == kubeletConfig && gap.Kind == cluster.GapAbsent
	}
	if !slices.ContainsFunc(v.s.Gaps, missing) {
		return nil
	}
	return []Finding{{
		Object:  kubeletConfig,
		Message: "the cluster has no kubelet configuration for kubeadm to write to its nodes: kubeadm would fail",
		Remedy:  "Write it back: kubeadm init phase upload-config kubelet --config FILE",
	}}
}

func kubeadmVersionDiffers(v *view) []Finding {
	if v.s.Kubeadm == nil || v.oldest.IsZero() {
		return nil
	}
	said, err := skew.Parse(v.s.Kubeadm.KubernetesVersion)
	if err != nil || said == v.oldest || said == v.newest {
		return nil
	}
	return []Finding{{
		Object: kubeadmConfig,
		Message: fmt.Sprintf("kubeadm's configuration says %s, and the API servers run %s: an earlier upgrade was not finished, or not done "+
			"by kubeadm",
			said, v.oldest),
		Remedy: fmt.Sprintf("Set kubernetesVersion to %s: %s", v.oldest, editKubeadm),
	}}
}

func kubeadmConfigTooOld(v *view) []Finding {
	if v.s.Kubeadm == nil || v.s.Kubeadm.APIVersion == "" || len(v.ahead) == 0 || v.ahead[0].facts == nil {
		return nil
	}
	// Only the first hop reads what is there now: each kubeadm writes the version that it prefers.
	first := v.ahead[0]
	version := strings.TrimPrefix(v.s.Kubeadm.APIVersion, "kubeadm.k8s.io/")
	if _, reads := first.facts.Kubeadm.ConfigVersion(version); reads {
		return nil
	}
	return []Finding{{
		Object:  kubeadmConfig,
		Message: fmt.Sprintf("kubeadm's configuration is written as %s, which kubeadm of %s cannot read", v.s.Kubeadm.APIVersion, first),
		Remedy:  fmt.Sprintf("Rewrite it with the kubeadm that is installed: kubeadm config migrate; then %s", editKubeadm),
	}}
}

// kubeadmGateInvalid: kubeadm renders the manifests from the cluster's configuration, and refuses one with a gate that it does not know.
// RootlessControlPlane it renders wrongly.
func kubeadmGateInvalid(v *view) []Finding {
	if v.s.Kubeadm == nil || !v.movesControlPlane() {
		return nil
	}
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(v.s.Kubeadm.FeatureGates)) {
		if name == "RootlessControlPlane" && v.s.Kubeadm.FeatureGates[name] {
			found = append(found, Finding{
				Object: kubeadmConfig,
				Message: "kubeadm's feature gate RootlessControlPlane is on: the target's manifests would be rendered without its settings, and " +
					"the control plane would not start",
				Remedy: "Turn it off and let kubeadm write the manifests anew before the upgrade: " + editKubeadm,
			})
			continue
		}
		s := setting{
			object: kubeadmConfig, where: "kubeadm's configuration", what: "the feature gate " + name,
			edit: editKubeadm, harm: "kubeadm could not read it",
		}
		found = append(found, v.judge(s, v.ahead, notKnown, func(f *kubefacts.Facts) bool {
			_, known := f.Kubeadm.Gate(name)
			return !known
		})...)
	}
	return found
}

// migratable are the plugins of CoreDNS that kubeadm knows how to bring along. With any other its own checks refuse to upgrade.
var migratable = []string{
	"autopath", "cache", "errors", "forward", "health", "hosts", "k8s_external", "kubernetes", "loadbalance", "log", "loop", "prometheus",
	"ready", "reload", "rewrite", "transfer",
}

func corefilePluginUnknown(v *view) []Finding {
	k := v.s.Kubeadm
	if k == nil || !k.HasDNS || !v.movesControlPlane() {
		return nil
	}
	var foreign []string
	for _, plugin := range k.CorefilePlugins {
		if !slices.Contains(migratable, plugin) {
			foreign = append(foreign, plugin)
		}
	}
	at := slices.IndexFunc(v.ahead, func(h hop) bool { return h.coreDNS() != "" && bare(h.coreDNS()) != bare(k.DNSVersion) })
	if len(foreign) == 0 || at < 0 {
		return nil
	}
	slices.Sort(foreign)
	foreign = slices.Compact(foreign)
	return []Finding{{
		Object: dnsConfig,
		Message: fmt.Sprintf("the Corefile uses %s, which kubeadm does not know how to bring from CoreDNS %s to %s (%s): its own checks refuse",
			some(foreign), k.DNSVersion, v.ahead[at].coreDNS(), v.ahead[at]),
		Remedy: "See in CoreDNS's release notes that the plugin still works, let the agents on control plane nodes ignore kubeadm's error " +
			"CoreDNSUnsupportedPlugins, and waive CorefilePluginUnknown.",
	}}
}

func bare(version string) string { return strings.TrimPrefix(version, "v") }

func (h hop) coreDNS() string {
	switch {
	case h.dnsTag != "":
		return h.dnsTag
	case h.release != nil && h.release.Payload.CoreDNS != "":
		return h.release.Payload.CoreDNS
	case h.facts != nil:
		return h.facts.CoreDNS
	}
	return ""
}

func ipvsMode(v *view) []Finding {
	if v.s.Kubeadm == nil || v.s.Kubeadm.ProxyMode != "ipvs" || !v.reachesAtAll(35) {
		return nil
	}
	return []Finding{{
		Object:  proxyConfig,
		Message: "kube-proxy runs in the mode ipvs, which is deprecated since 1.35: it works still, and a later release drops it",
		Remedy: "Plan the move to nftables: set mode: nftables in the ConfigMap kube-system/kube-proxy, then kubectl -n kube-system rollout " +
			"restart daemonset kube-proxy",
	}}
}

func externalIPsUsed(v *view) []Finding {
	if !v.reachesAtAll(36) {
		return nil
	}
	var found []Finding
	for _, service := range v.s.Services {
		if len(service.ExternalIPs) > 0 {
			found = append(found, Finding{
				Object: fmt.Sprintf("Service %s/%s", service.Namespace, service.Name),
				Message: fmt.Sprintf("%s/%s uses externalIPs (%s), which is deprecated since 1.36: it works still, and a later release drops it",
					service.Namespace, service.Name, some(service.ExternalIPs)),
				Remedy: "Plan the move to a Service of type LoadBalancer or to a Gateway.",
			})
		}
	}
	return found
}

// reachesAtAll says whether a hop is at or above a minor version.
func (v *view) reachesAtAll(minor int) bool {
	return slices.ContainsFunc(v.hops, func(h hop) bool { return h.version.Minor >= minor })
}

// firstRefusing returns the first of some hops whose release refuses something. One of which nothing is known refuses nothing:
// VersionPathUnsupported tells of it.
func (v *view) firstRefusing(hops []hop, refuses func(*kubefacts.Facts) bool) (hop, bool) {
	for _, h := range hops {
		if h.facts != nil && refuses(h.facts) {
			return h, true
		}
	}
	return hop{}, false
}

// notEvenNow says whether the present version refuses it as well. As the cluster runs with it, Refit's knowledge has a hole there.
func (v *view) notEvenNow(refuses func(*kubefacts.Facts) bool) bool {
	return v.from != nil && refuses(v.from)
}

func (v *view) kubeletSettings() *cluster.KubeletConfig {
	if v.s.Kubeadm == nil || v.s.Kubeadm.Kubelet == nil {
		return &cluster.KubeletConfig{}
	}
	return v.s.Kubeadm.Kubelet
}
