package preflight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// onHosts collects the findings with a message that judge returns for the reported nodes.
func (v *view) onHosts(judge func(*node, *refitv1alpha1.NodeReportStatus) Finding) []Finding {
	return judged(v.reported(), judge)
}

// onFetching collects those of the nodes that get files or images.
func (v *view) onFetching(judge func(*node, *refitv1alpha1.NodeReportStatus) Finding) []Finding {
	return judged(v.fetching(), judge)
}

func judged(nodes []*node, judge func(*node, *refitv1alpha1.NodeReportStatus) Finding) []Finding {
	var found []Finding
	for _, n := range nodes {
		if f := judge(n, n.Report); f.Message != "" {
			f.Object = n.object()
			found = append(found, f)
		}
	}
	return found
}

const (
	lowInodesPercent = 10
	minInodesPercent = 5
	smallDiskMiB     = 1024 // if the required space is unknown
)

func diskTooSmall(v *view) []Finding {
	var found []Finding
	for _, n := range v.fetching() {
		if len(n.Report.Disks) == 0 { // which also has the inodes and what is read-only
			found = append(found, Finding{
				Unknown: true,
				Object:  n.object(),
				Message: fmt.Sprintf("the free disk space of %s is unknown", n.Name),
				Remedy:  fmt.Sprintf("On %s, look for the error of the agent: `journalctl -u refit-agent | grep 'facts of this host'`", n.Name),
			})
		}
		for _, disk := range n.Report.Disks {
			f := Finding{
				Object: n.object(),
				Remedy: fmt.Sprintf("Free disk space on %s: `crictl rmi --prune; %s; journalctl --vacuum-size=200M`.", n.Name, cleanPackages(n)),
			}
			switch {
			case n.touched && disk.FreeMiB < disk.NeededMiB:
				f.Message = fmt.Sprintf("%s on %s has %d MiB free, but the upgrade needs %d MiB", disk.Path, n.Name, disk.FreeMiB, disk.NeededMiB)
			case (disk.NeededMiB == 0 || !n.touched) && disk.FreeMiB < smallDiskMiB: // what is needed is for an upgrade of the host
				f.Severity = Warn
				f.Message = fmt.Sprintf("%s on %s has only %d MiB free", disk.Path, n.Name, disk.FreeMiB)
			default:
				continue
			}
			found = append(found, f)
		}
	}
	return found
}

func inodesLow(v *view) []Finding {
	var found []Finding
	for _, n := range v.fetching() {
		for _, disk := range n.Report.Disks {
			if disk.FreeInodesPercent == nil || *disk.FreeInodesPercent >= lowInodesPercent {
				continue
			}
			f := Finding{
				Severity: Warn,
				Object:   n.object(),
				Message:  fmt.Sprintf("%s on %s has %d%% of its inodes free", disk.Path, n.Name, *disk.FreeInodesPercent),
				Remedy:   fmt.Sprintf("Find the directory with too many files (`du --inodes -xd1 %s | sort -n`) on %s.", disk.Path, n.Name),
			}
			if *disk.FreeInodesPercent < minInodesPercent {
				f.Severity = Block
			}
			found = append(found, f)
		}
	}
	return found
}

func swapOn(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.SwapOn == nil || !*r.SwapOn {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s has swap enabled: the kubelet starts only if failSwapOn is false", n.Name),
			Remedy:  "No action is required if this is intended. To check the setting: `kubectl -n kube-system get configmap kubelet-config -o yaml`",
		}
	})
}

func hostnameDiffers(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		short, _, _ := strings.Cut(n.Name, ".")
		host, _, _ := strings.Cut(r.Hostname, ".")
		if r.Hostname == "" || strings.EqualFold(short, host) {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("the hostname of node %s is %s: kubeadm warns about the difference", n.Name, r.Hostname),
			Remedy:  "No action is required if the node was joined under this name on purpose.",
		}
	})
}

// packagesHeld: holds on Kubernetes packages are good practice. A hold on the container runtime
// blocks a ClusterRelease that upgrades it.
func packagesHeld(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		held := slices.DeleteFunc(slices.Clone(r.HeldPackages), func(name string) bool {
			return !strings.HasPrefix(name, "containerd") && name != "runc"
		})
		if len(held) == 0 || !n.upgradesContainerd() {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s is on hold on %s, but the ClusterRelease upgrades it", joinNames(held), n.Name),
			Remedy:  fmt.Sprintf("To allow the upgrade, run `%s %s` on %s.", unhold(n), strings.Join(held, " "), n.Name),
		}
	})
}

func hold(n *node) string {
	if !n.hasRpm() {
		return "apt-mark hold"
	}
	return "dnf versionlock add"
}

func unhold(n *node) string {
	if !n.hasRpm() {
		return "apt-mark unhold"
	}
	return "dnf versionlock delete"
}

func cleanPackages(n *node) string {
	if !n.hasRpm() {
		return "apt-get clean"
	}
	return "dnf clean packages"
}

func (n *node) hasRpm() bool {
	return n.Report != nil && n.Report.PackageKind == refitv1alpha1.PackageRpm
}

func readOnlyHost(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if len(r.ReadOnlyPaths) == 0 {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s is not writable on %s, but the upgrade must write to it", joinNames(r.ReadOnlyPaths), n.Name),
			Remedy: orLeaveOut(n, fmt.Sprintf("Find out why (`findmnt -T %s; dmesg | tail`) on %s. The kernel remounts a file system "+
				"read-only after an error. If the operating system mounts it read-only, use a ClusterRelease without the parts in it.",
				r.ReadOnlyPaths[0], n.Name)),
		}
	})
}

func endpointUnreachable(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		switch {
		case r.EndpointReachable == nil:
			return Finding{
				Severity: Warn,
				Unknown:  true,
				Message:  fmt.Sprintf("whether %s can reach the API endpoint is unknown", n.Name),
				Remedy:   fmt.Sprintf("Run `curl -k https://%s/readyz` on %s.", v.endpoint(), n.Name),
			}
		case !*r.EndpointReachable:
			return Finding{
				Message: fmt.Sprintf("%s cannot reach the API endpoint %s", n.Name, v.endpoint()),
				Remedy:  fmt.Sprintf("Check the network path: run `curl -k https://%s/readyz` on %s.", v.endpoint(), n.Name),
			}
		}
		return Finding{}
	})
}

func (v *view) endpoint() string {
	if v.s.Endpoint.Address == "" {
		return "ENDPOINT:6443"
	}
	return v.s.Endpoint.Address
}

func packageKindUnknown(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		switch r.PackageKind {
		case refitv1alpha1.PackageBinary, refitv1alpha1.PackageDeb, refitv1alpha1.PackageRpm:
			return Finding{}
		}
		return Finding{
			Unknown: true,
			Message: fmt.Sprintf("how Kubernetes was installed on %s is unknown", n.Name),
			Remedy:  fmt.Sprintf("Find out where the kubelet comes from. On %s, run `dpkg -S /usr/bin/kubelet; rpm -qf /usr/bin/kubelet`", n.Name),
		}
	})
}

func serviceWrapped(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		for _, w := range r.ServiceWrappers {
			if w.Binary == "containerd" && !n.upgradesContainerd() {
				continue
			}
			return Finding{
				Message: fmt.Sprintf("%s.service on %s starts %s instead of the %s binary; Refit does not replace it", w.Binary, n.Name, w.Path, w.Binary),
				Remedy: orLeaveOut(n, fmt.Sprintf("Let ExecStart= start the %s binary itself, and move what %s does to a drop-in "+
					"(ExecStartPre=, Environment=).", w.Binary, w.Path)),
			}
		}
		return Finding{}
	})
}

// upgradesContainerd reports whether a ClusterRelease of the node's hops has containerd.
func (n *node) upgradesContainerd() bool {
	return slices.ContainsFunc(n.hops, func(h hop) bool { return h.release != nil && h.release.Payload.Containerd != "" })
}

func manifestUnparsable(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		switch {
		case r.Drift == nil && n.ControlPlane:
			return Finding{
				Unknown: true,
				Message: fmt.Sprintf("the static pod manifests on %s could not be read", n.Name),
				Remedy:  fmt.Sprintf("On %s, look for the error of the agent: `journalctl -u refit-agent | grep 'facts of this host'`", n.Name),
			}
		case r.Drift == nil || len(r.Drift.UnparsableManifests) == 0:
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s in /etc/kubernetes/manifests on %s is not a valid pod", joinNames(r.Drift.UnparsableManifests), n.Name),
			Remedy:  "Fix the file, or move it out of the directory: the kubelet reads every file there, including backups.",
		}
	})
}

func manifestHandEdited(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		switch {
		case !n.ControlPlane:
			return Finding{}
		case r.Drift == nil || !r.Drift.Known:
			return Finding{
				Severity: Info,
				Unknown:  true,
				Message:  fmt.Sprintf("whether the manifests on %s were edited manually is unknown: there is no rendered manifest to compare with", n.Name),
				Remedy:   "Compare them before the upgrade overwrites them: `kubeadm upgrade diff`",
			}
		case len(r.Drift.Differences) == 0:
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("the manifests on %s differ from what kubeadm generates, and the upgrade overwrites the differences: %s",
				n.Name, joinNames(r.Drift.Differences)),
			Remedy: "Move the changes to the kubeadm configuration (extraArgs, extraVolumes) or to kubeadm patches on the host.",
		}
	})
}

// securitySettingLost blocks where manifestHandEdited only warns: without such settings, the API
// server starts and works, but logs no audit events, or lets more users in.
func securitySettingLost(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		switch {
		case !n.ControlPlane || r.Drift == nil: // ManifestUnparsable reports it
			return Finding{}
		case !r.Drift.Known:
			return Finding{
				Severity: Warn, Unknown: true,
				Message: fmt.Sprintf("whether the upgrade removes security settings from the manifests on %s, such as audit logging, is unknown: "+
					"%[1]s needs kubeadm of the version of its API server to compare them", n.Name),
				Remedy: fmt.Sprintf("Install that kubeadm on %s and run the check again, or compare the manifests with extraArgs and extraVolumes: "+
					"`kubectl -n kube-system get configmap kubeadm-config -o yaml`", n.Name),
			}
		case len(r.Drift.SecuritySettings) == 0:
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("the upgrade removes security settings that only the manifests on %s have: %s", n.Name, joinNames(r.Drift.SecuritySettings)),
			Remedy: fmt.Sprintf("Keep them in the kubeadm configuration: %s. If they may be lost, waive SecuritySettingLost for the node.",
				command("refit keep "+n.Name)),
		}
	})
}

// rejectsReferences is the first minor version whose kubelet rejects static pods that reference API
// objects, regardless of feature gates.
const rejectsReferences = 37

func staticPodReferencesAPI(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		at := slices.IndexFunc(n.hops, func(h hop) bool { return h.version.Minor >= rejectsReferences })
		if at < 0 || r.Drift == nil || len(r.Drift.APIReferences) == 0 {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("static pods on %s (%s) reference Secrets, ConfigMaps or ServiceAccounts: kubelet %s rejects them",
				n.Name, joinNames(r.Drift.APIReferences), n.hops[at]),
			Remedy: "Provide the data as files on the host (hostPath), or convert the static pods to a DaemonSet.",
		}
	})
}

func kubeletReplaced(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.Versions.Kubelet == "" || r.Versions.KubeletOnDisk == "" || r.Versions.Kubelet == r.Versions.KubeletOnDisk {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s runs kubelet %s, but %s is on disk: it was replaced without a restart",
				n.Name, r.Versions.Kubelet, r.Versions.KubeletOnDisk),
			Remedy: fmt.Sprintf("Find out what replaced it, such as unattended-upgrades. Then restart it (`systemctl restart kubelet`) or reinstall the "+
				"old version on %s.", n.Name),
		}
	})
}

// containerdMajor returns 1 for containerd://1.7.2, and 0 for other runtimes.
func containerdMajor(runtime string) int {
	version, is := strings.CutPrefix(runtime, "containerd://")
	if !is {
		return 0
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return n
}
