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
	editKubeadm   = "`kubectl -n kube-system edit configmap kubeadm-config`"
	editKubelet   = "`kubectl -n kube-system edit configmap kubelet-config`"
)

// kubeadmConfigMissing: kubeadm also fails without the kubelet configuration. The configuration of
// kube-proxy and CoreDNS is optional.
func kubeadmConfigMissing(v *view) []Finding {
	if v.s.Kubeadm != nil {
		return kubeletConfigMissing(v)
	}
	return []Finding{{
		Object:  kubeadmConfig,
		Message: "the cluster has no kubeadm configuration: Refit upgrades only clusters that kubeadm created",
		Remedy:  "If kubeadm created this cluster, upload its configuration: `kubeadm init phase upload-config all --config FILE`",
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
		Message: "the cluster has no kubelet configuration, which kubeadm writes to the nodes: kubeadm would fail",
		Remedy:  "Upload it: `kubeadm init phase upload-config kubelet --config FILE`",
	}}
}

func kubeadmVersionDiffers(v *view) []Finding {
	if v.s.Kubeadm == nil || v.oldest.IsZero() {
		return nil
	}
	configured, err := skew.Parse(v.s.Kubeadm.KubernetesVersion)
	if err != nil || configured == v.oldest || configured == v.newest {
		return nil
	}
	return []Finding{{
		Object: kubeadmConfig,
		Message: fmt.Sprintf("the kubeadm configuration specifies %s, but the API servers run %s: an earlier upgrade did not finish or did not use kubeadm",
			configured, v.oldest),
		Remedy: fmt.Sprintf("Set kubernetesVersion to %s: %s", v.oldest, editKubeadm),
	}}
}

func kubeadmConfigTooOld(v *view) []Finding {
	if v.s.Kubeadm == nil || v.s.Kubeadm.APIVersion == "" || len(v.ahead) == 0 || v.ahead[0].facts == nil {
		return nil
	}
	// Only the first hop reads the current configuration: each kubeadm writes its preferred
	// version.
	first := v.ahead[0]
	version := strings.TrimPrefix(v.s.Kubeadm.APIVersion, "kubeadm.k8s.io/")
	if _, reads := first.facts.Kubeadm.ConfigVersion(version); reads {
		return nil
	}
	return []Finding{{
		Object:  kubeadmConfig,
		Message: fmt.Sprintf("the kubeadm configuration has apiVersion %s, which kubeadm %s cannot read", v.s.Kubeadm.APIVersion, first),
		Remedy:  fmt.Sprintf("Migrate it with the installed kubeadm: `kubeadm config migrate --old-config FILE`, then %s", editKubeadm),
	}}
}

// kubeadmGateInvalid: kubeadm rejects a configuration with an unknown feature gate, and renders
// manifests without the settings of RootlessControlPlane.
func kubeadmGateInvalid(v *view) []Finding {
	if v.s.Kubeadm == nil || !v.movesControlPlane() {
		return nil
	}
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(v.s.Kubeadm.FeatureGates)) {
		if name == "RootlessControlPlane" && v.s.Kubeadm.FeatureGates[name] {
			found = append(found, Finding{
				Object: kubeadmConfig,
				Message: "the kubeadm feature gate RootlessControlPlane is enabled: kubeadm would render the target's manifests without its settings, " +
					"and the control plane would not start",
				Remedy: "Disable it and regenerate the manifests with kubeadm before the upgrade: " + editKubeadm,
			})
			continue
		}
		s := setting{
			object: kubeadmConfig, where: "the kubeadm configuration", what: "feature gate " + name,
			edit: editKubeadm, harm: "kubeadm would reject the configuration",
		}
		found = append(found, v.judge(s, v.ahead, unsupported, func(f *kubefacts.Facts) bool {
			_, known := f.Kubeadm.Gate(name)
			return !known
		})...)
	}
	return found
}

// migratable are the CoreDNS plugins that kubeadm can migrate. Its preflight checks reject all
// others.
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
		Message: fmt.Sprintf("the Corefile uses %s, which kubeadm cannot migrate from CoreDNS %s to %s (%s): its preflight checks fail",
			joinNames(foreign), k.DNSVersion, v.ahead[at].coreDNS(), v.ahead[at]),
		Remedy: "Check the CoreDNS release notes for the plugin. Then add CoreDNSUnsupportedPlugins to kubeadm.ignorePreflightErrors in agent.yaml (" +
			command("kubectl -n refit-agent edit configmap refit-agent") + "), run " + command("refit install") + ", and waive CorefilePluginUnknown.",
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
	if v.s.Kubeadm == nil || v.s.Kubeadm.ProxyMode != "ipvs" || !v.reachesMinor(35) {
		return nil
	}
	return []Finding{{
		Object:  proxyConfig,
		Message: "kube-proxy runs in ipvs mode, which is deprecated since 1.35: it still works, but a later release removes it",
		Remedy: "Plan the migration to nftables: set mode: nftables in the ConfigMap kube-system/kube-proxy, then run `kubectl -n kube-system rollout " +
			"restart daemonset kube-proxy`",
	}}
}

func externalIPsUsed(v *view) []Finding {
	if !v.reachesMinor(36) {
		return nil
	}
	var found []Finding
	for _, service := range v.s.Services {
		if len(service.ExternalIPs) > 0 {
			found = append(found, Finding{
				Object: fmt.Sprintf("Service %s/%s", service.Namespace, service.Name),
				Message: fmt.Sprintf("%s/%s uses externalIPs (%s), which is deprecated since 1.36: it still works, but a later release removes it",
					service.Namespace, service.Name, joinNames(service.ExternalIPs)),
				Remedy: "Plan the migration to a Service of type LoadBalancer or to a Gateway.",
			})
		}
	}
	return found
}

// reachesMinor reports whether a hop is at or above a minor version.
func (v *view) reachesMinor(minor int) bool {
	return slices.ContainsFunc(v.hops, func(h hop) bool { return h.version.Minor >= minor })
}

// firstRejecting returns the first hop whose version rejects something. A hop without facts rejects
// nothing: VersionPathUnsupported reports it.
func (v *view) firstRejecting(hops []hop, rejects func(*kubefacts.Facts) bool) (hop, bool) {
	for _, h := range hops {
		if h.facts != nil && rejects(h.facts) {
			return h, true
		}
	}
	return hop{}, false
}

// rejectedNow reports whether the current version rejects it as well. The cluster runs with it, so
// Refit's facts are incomplete.
func (v *view) rejectedNow(rejects func(*kubefacts.Facts) bool) bool {
	return v.from != nil && rejects(v.from)
}

func (v *view) kubeletSettings() *cluster.KubeletConfig {
	if v.s.Kubeadm == nil || v.s.Kubeadm.Kubelet == nil {
		return &cluster.KubeletConfig{}
	}
	return v.s.Kubeadm.Kubelet
}
