package preflight

import (
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// droppedByKubeadm are flags that kubeadm wrote itself, by the minor version whose kubeadm removes
// them. A node that skips that version keeps them.
var droppedByKubeadm = map[string]int{"pod-infra-container-image": 35}

// kubeadmKubeletConfig is the file that kubeadm writes, which is fixed in kubeadm.
const kubeadmKubeletConfig = "/var/lib/kubelet/config.yaml"

// kubeletConfigElsewhere: kubeadm reports success in such a case, and the kubelet keeps the old
// configuration. Agents that do not report the file yet are not judged.
func kubeletConfigElsewhere(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.Kubelet == nil || slices.Contains(r.Truncated, "kubelet.flags") {
			return Finding{}
		}
		reads := r.Kubelet.ConfigFile
		switch {
		case !slices.Contains(r.Kubelet.Flags, "config"):
			reads = "no configuration file"
		case reads == "" || reads == kubeadmKubeletConfig:
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("the kubelet on %s reads %s, but the upgrade writes %s", n.Name, reads, kubeadmKubeletConfig),
			Remedy: orLeaveOut(n, fmt.Sprintf("Move its settings to %s on %s and start it with --config=%s. If other software maintains its configuration, "+
				"waive KubeletConfigElsewhere for the node.", kubeadmKubeletConfig, n.Name, kubeadmKubeletConfig)),
		}
	})
}

func removedKubeletFlag(v *view) []Finding {
	var found []Finding
	dropped := map[string][]string{}
	for _, n := range v.reported() {
		if n.Report.Kubelet == nil {
			found = append(found, Finding{
				Severity: Warn,
				Unknown:  true,
				Object:   n.object(),
				Message:  fmt.Sprintf("the flags of the kubelet on %s are unknown", n.Name),
				Remedy:   fmt.Sprintf("Check the agent's log on %s: `journalctl -u refit-agent`", n.Name),
			})
			continue
		}
		if slices.ContainsFunc(n.Report.Truncated, func(list string) bool { return strings.HasPrefix(list, "kubelet.") }) {
			found = append(found, Finding{
				Severity: Warn,
				Unknown:  true,
				Object:   n.object(),
				Message:  fmt.Sprintf("the kubelet on %s has more flags, feature gates or fields than its NodeReport can list", n.Name),
				Remedy: fmt.Sprintf("Compare them with the release notes. On %s, run `systemctl cat kubelet; cat /var/lib/kubelet/config.yaml`",
					n.Name),
			})
		}
		for _, flag := range n.Report.Kubelet.Flags {
			if minor, drops := droppedByKubeadm[flag]; drops && slices.ContainsFunc(n.hops, func(h hop) bool { return h.version.Minor == minor }) {
				dropped[flag] = append(dropped[flag], n.Name)
				continue
			}
			s := setting{object: n.object(), where: "the kubelet on " + n.Name, what: "flag --" + flag, edit: flagFiles(n)}
			rejects := func(f *kubefacts.Facts) bool { return !f.HasFlag(kubefacts.Kubelet, flag) }
			found = append(found, v.judge(s, n.hops, unsupported, rejects)...)
		}
	}
	for flag, nodes := range dropped {
		found = append(found, Finding{
			Severity: Warn,
			Message: fmt.Sprintf("the kubelet on %s uses the flag --%s; kubeadm 1.%d removes it from kubeadm-flags.env, but not from other files",
				joinNames(nodes), flag, droppedByKubeadm[flag]),
			Remedy: fmt.Sprintf("Make sure that --%s is not set in /etc/default/kubelet or in a systemd drop-in of the kubelet.", flag),
		})
	}
	return found
}

func flagFiles(n *node) string {
	return fmt.Sprintf("check /var/lib/kubelet/kubeadm-flags.env, /etc/default/kubelet and the systemd drop-ins on %s", n.Name)
}

// removedKubeletField is a warning: the kubelet ignores unknown fields, and the setting is lost.
func removedKubeletField(v *view) []Finding {
	var found []Finding
	check := func(fields []string, hops []hop, s setting) {
		for _, field := range fields {
			rejects := func(f *kubefacts.Facts) bool { return !knows(f.KubeletConfig, field) }
			at, gone := v.firstRejecting(hops, rejects)
			if !gone || v.rejectedNow(rejects) {
				continue
			}
			found = append(found, Finding{
				Object:  s.object,
				Message: fmt.Sprintf("%s sets %s, which %s ignores", s.where, field, at),
				Remedy:  "Find its replacement in the release notes, and remove it: " + s.edit,
			})
		}
	}
	shared := v.kubeletSettings().Fields
	check(shared, v.kubeletHops(), setting{object: kubeletConfig, where: "the cluster's kubelet configuration", edit: editKubelet})
	for _, n := range v.reported() {
		if n.Report.Kubelet != nil {
			own := slices.DeleteFunc(slices.Clone(n.Report.Kubelet.ConfigFields), func(field string) bool { return slices.Contains(shared, field) })
			check(own, n.hops, setting{object: n.object(), where: "the kubelet on " + n.Name, edit: "edit /var/lib/kubelet/config.yaml on " + n.Name})
		}
	}
	return found
}

// knows reports whether a field exists, or is an entry of a map field:
// evictionHard.memory.available.
func knows(fields kubefacts.Fields, path string) bool {
	if fields.Has(path) {
		return true
	}
	for i, c := range path {
		if c == '.' && fields.Has(path[:i]+".*") {
			return true
		}
	}
	return false
}

// failsOnCgroupV1 is the first minor version whose kubelet rejects cgroup v1 by default.
const failsOnCgroupV1 = 35

func cgroupV1(v *view) []Finding {
	var found []Finding
	for _, n := range v.reported() {
		at := slices.IndexFunc(n.hops, func(h hop) bool { return h.version.Minor >= failsOnCgroupV1 })
		if at < 0 || n.Report.CgroupVersion == 2 {
			continue
		}
		if n.Report.CgroupVersion == 0 {
			found = append(found, Finding{
				Unknown: true,
				Object:  n.object(),
				Message: fmt.Sprintf("the cgroup version of %s is unknown", n.Name),
				Remedy:  fmt.Sprintf("On %s, run `stat -fc %%T /sys/fs/cgroup` (cgroup2fs means version 2)", n.Name),
			})
			continue
		}
		// kubeadm writes the cluster's kubelet configuration to every node, so the node's own
		// setting does not count.
		fails := v.kubeletSettings().FailCgroupV1
		if v.s.Kubeadm == nil && n.Report.Kubelet != nil {
			fails = n.Report.Kubelet.FailCgroupV1
		}
		if fails != nil && !*fails {
			found = append(found, Finding{
				Severity: Warn,
				Object:   n.object(),
				Message:  fmt.Sprintf("%s uses cgroup v1, which a later Kubernetes release removes (failCgroupV1 is false)", n.Name),
				Remedy:   fmt.Sprintf("Plan the migration: boot %s with systemd.unified_cgroup_hierarchy=1.", n.Name),
			})
			continue
		}
		found = append(found, Finding{
			Object:  n.object(),
			Message: fmt.Sprintf("%s uses cgroup v1: kubelet %s would not start", n.Name, n.hops[at]),
			Remedy: fmt.Sprintf("Boot %s with systemd.unified_cgroup_hierarchy=1, or set failCgroupV1: false for now: %s",
				n.Name, editKubelet),
		})
	}
	return found
}

// needsRuntimeConfig is the first minor version whose kubelet requires the CRI method
// RuntimeConfig.
const needsRuntimeConfig = 38

func criRuntimeConfigMissing(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		if !n.touched || len(n.hops) == 0 || !n.lacksRuntimeConfig() || n.installsContainerd2() {
			continue
		}
		last := n.hops[len(n.hops)-1]
		f := Finding{
			Severity: Warn,
			Object:   n.object(),
			live:     !n.probedRuntimeConfig(),
			Message: fmt.Sprintf("the container runtime on %s (%s) lacks the CRI method RuntimeConfig, which the kubelet requires from 1.%d on",
				n.Name, n.Runtime, needsRuntimeConfig),
			Remedy: fmt.Sprintf("Upgrade containerd on %s to 2.0 or later before you upgrade to 1.%d, or use a ClusterRelease that includes it.",
				n.Name, needsRuntimeConfig),
		}
		if last.version.Minor >= needsRuntimeConfig {
			f.Severity = Block
			f.Message = fmt.Sprintf("the container runtime on %s (%s) lacks the CRI method RuntimeConfig: kubelet %s would not start",
				n.Name, n.Runtime, last)
		}
		found = append(found, f)
	}
	return found
}

// lacksRuntimeConfig uses the agent's probe of the runtime; without one, containerd before 2.0 is
// known to lack the method.
func (n *node) lacksRuntimeConfig() bool {
	if n.probedRuntimeConfig() {
		return !*n.Report.CRI.RuntimeConfig
	}
	return containerdMajor(n.Runtime) == 1
}

func (n *node) probedRuntimeConfig() bool {
	return n.Report != nil && n.Report.CRI != nil && n.Report.CRI.RuntimeConfig != nil
}

func (n *node) installsContainerd2() bool {
	return slices.ContainsFunc(n.hops, func(h hop) bool {
		return h.release != nil && containerdMajor("containerd://"+h.release.Payload.Containerd) >= 2
	})
}
