package preflight

import (
	"fmt"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// droppedByKubeadm are flags that kubeadm once wrote itself, by the minor version whose kubeadm takes them out again. A node that does not stop at
// that version keeps them.
var droppedByKubeadm = map[string]int{"pod-infra-container-image": 35}

func removedKubeletFlag(v *view) []Finding {
	var found []Finding
	dropped := map[string][]string{}
	for _, n := range v.reported() {
		if n.Report.Kubelet == nil {
			found = append(found, Finding{
				Severity: Warn,
				Unknown:  true,
				Object:   n.object(),
				Message:  fmt.Sprintf("with which flags the kubelet of %s runs is not known", n.Name),
				Remedy:   fmt.Sprintf("Look at the agent's log: journalctl -u refit-agent (on %s)", n.Name),
			})
			continue
		}
		for _, flag := range n.Report.Kubelet.Flags {
			if minor, drops := droppedByKubeadm[flag]; drops && slices.ContainsFunc(n.hops, func(h hop) bool { return h.version.Minor == minor }) {
				dropped[flag] = append(dropped[flag], n.Name)
				continue
			}
			s := setting{object: n.object(), where: "the kubelet of " + n.Name, what: "the flag --" + flag, edit: flagFiles(n)}
			refuses := func(f *kubefacts.Facts) bool { return !f.HasFlag(kubefacts.Kubelet, flag) }
			found = append(found, v.judge(s, n.hops, notKnown, refuses)...)
		}
	}
	for flag, nodes := range dropped {
		found = append(found, Finding{
			Severity: Warn,
			Message: fmt.Sprintf("the kubelet of %s has the flag --%s; kubeadm of 1.%d takes it out of kubeadm-flags.env, but not out of "+
				"other places",
				some(nodes), flag, droppedByKubeadm[flag]),
			Remedy: fmt.Sprintf("Make sure that --%s is not in /etc/default/kubelet or in a drop-in of the kubelet's unit.", flag),
		})
	}
	return found
}

func flagFiles(n *node) string {
	return fmt.Sprintf("look in /var/lib/kubelet/kubeadm-flags.env, /etc/default/kubelet and the unit's drop-ins on %s", n.Name)
}

// removedKubeletField: a field that the kubelet does not know is ignored, and what it asked for is lost.
func removedKubeletField(v *view) []Finding {
	var found []Finding
	look := func(fields []string, hops []hop, s setting) {
		for _, field := range fields {
			refuses := func(f *kubefacts.Facts) bool { return !knows(f.KubeletConfig, field) }
			at, gone := v.firstRefusing(hops, refuses)
			if !gone || v.notEvenNow(refuses) {
				continue
			}
			found = append(found, Finding{
				Object:  s.object,
				Message: fmt.Sprintf("%s sets %s, which %s ignores", s.where, field, at),
				Remedy:  "Find out what takes its place, and take it out: " + s.edit,
			})
		}
	}
	shared := v.kubeletSettings().Fields
	look(shared, v.kubeletHops(), setting{object: kubeletConfig, where: "the cluster's kubelet configuration", edit: editKubelet})
	for _, n := range v.reported() {
		if n.Report.Kubelet != nil {
			own := slices.DeleteFunc(slices.Clone(n.Report.Kubelet.ConfigFields), func(field string) bool { return slices.Contains(shared, field) })
			look(own, n.hops, setting{object: n.object(), where: "the kubelet of " + n.Name, edit: "edit /var/lib/kubelet/config.yaml on " + n.Name})
		}
	}
	return found
}

// knows says whether a field is known, or an entry of a map that is: evictionHard.memory.available.
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

// failsOnCgroupV1 is the first version whose kubelet refuses cgroup v1 unless it is told not to.
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
				Message: fmt.Sprintf("which version of cgroups %s uses is not known", n.Name),
				Remedy:  fmt.Sprintf("stat -fc %%T /sys/fs/cgroup (on %s): cgroup2fs is version 2.", n.Name),
			})
			continue
		}
		// kubeadm writes the cluster's kubelet configuration to every node, so that counts and not what the node has now.
		fails := v.kubeletSettings().FailCgroupV1
		if v.s.Kubeadm == nil && n.Report.Kubelet != nil {
			fails = n.Report.Kubelet.FailCgroupV1
		}
		if fails != nil && !*fails {
			found = append(found, Finding{
				Severity: Warn,
				Object:   n.object(),
				Message:  fmt.Sprintf("%s uses cgroup v1, which Kubernetes is about to drop (failCgroupV1 is false)", n.Name),
				Remedy:   fmt.Sprintf("Plan the move: boot %s with systemd.unified_cgroup_hierarchy=1.", n.Name),
			})
			continue
		}
		found = append(found, Finding{
			Object:  n.object(),
			Message: fmt.Sprintf("%s uses cgroup v1: the kubelet of %s would not start", n.Name, n.hops[at]),
			Remedy: fmt.Sprintf("Boot %s with systemd.unified_cgroup_hierarchy=1, or set failCgroupV1: false for now: kubectl -n kube-system "+
				"edit configmap kubelet-config",
				n.Name),
		})
	}
	return found
}

// needsRuntimeConfig is the first version whose kubelet does not start with a container runtime that lacks the CRI method RuntimeConfig.
const needsRuntimeConfig = 38

func criRuntimeConfigMissing(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		if !n.touched || len(n.hops) == 0 || !n.lacksRuntimeConfig() || n.bringsContainerd2() {
			continue
		}
		last := n.hops[len(n.hops)-1]
		f := Finding{
			Severity: Warn,
			Object:   n.object(),
			Message: fmt.Sprintf("the container runtime of %s (%s) lacks the CRI method RuntimeConfig, which the kubelet needs from 1.%d on",
				n.Name, n.Runtime, needsRuntimeConfig),
			Remedy: fmt.Sprintf("Upgrade containerd to 2.0 or later on %s before 1.%d, or use a ClusterRelease that brings it.",
				n.Name, needsRuntimeConfig),
		}
		if last.version.Minor >= needsRuntimeConfig {
			f.Severity = Block
			f.Message = fmt.Sprintf("the container runtime of %s (%s) lacks the CRI method RuntimeConfig: the kubelet of %s would not start",
				n.Name, n.Runtime, last)
		}
		found = append(found, f)
	}
	return found
}

// lacksRuntimeConfig: the agent asks the runtime; without one, containerd before 2.0 is known to lack it.
func (n *node) lacksRuntimeConfig() bool {
	if n.Report != nil && n.Report.CRI != nil && n.Report.CRI.RuntimeConfig != nil {
		return !*n.Report.CRI.RuntimeConfig
	}
	return containerdMajor(n.Runtime) == 1
}

func (n *node) bringsContainerd2() bool {
	return slices.ContainsFunc(n.hops, func(h hop) bool {
		return h.release != nil && containerdMajor("containerd://"+h.release.Payload.Containerd) >= 2
	})
}
