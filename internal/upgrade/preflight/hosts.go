package preflight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// onHosts makes a finding of each reported node for which judge returns one with a message.
func (v *view) onHosts(judge func(*node, *refitv1alpha1.NodeReportStatus) Finding) []Finding {
	var found []Finding
	for _, n := range v.reported() {
		if f := judge(n, n.Report); f.Message != "" {
			f.Object = n.object()
			found = append(found, f)
		}
	}
	return found
}

const (
	fewInodes     = 10 // percent
	hardlyInodes  = 5
	smallDiskMiB  = 1024 // when nobody knows how much is needed
	clockApart    = 5 * time.Second
	clockFarApart = 2 * time.Minute
)

func diskTooSmall(v *view) []Finding {
	var found []Finding
	for _, n := range v.reported() {
		for _, disk := range n.Report.Disks {
			f := Finding{
				Object: n.object(),
				Remedy: fmt.Sprintf("Make room on %s: crictl rmi --prune, apt-get clean, journalctl --vacuum-size=200M.", n.Name),
			}
			switch {
			case disk.FreeMiB < disk.NeededMiB:
				f.Message = fmt.Sprintf("%s on %s has %d MiB free, and the upgrade needs %d MiB", disk.Path, n.Name, disk.FreeMiB, disk.NeededMiB)
			case disk.NeededMiB == 0 && disk.FreeMiB < smallDiskMiB:
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
	for _, n := range v.reported() {
		for _, disk := range n.Report.Disks {
			if disk.FreeInodesPercent == nil || *disk.FreeInodesPercent >= fewInodes {
				continue
			}
			f := Finding{
				Severity: Warn,
				Object:   n.object(),
				Message:  fmt.Sprintf("%s on %s has %d%% of its inodes free", disk.Path, n.Name, *disk.FreeInodesPercent),
				Remedy:   fmt.Sprintf("Find the directory with too many small files: du --inodes -xd1 %s | sort -n (on %s)", disk.Path, n.Name),
			}
			if *disk.FreeInodesPercent < hardlyInodes {
				f.Severity = Block
			}
			found = append(found, f)
		}
	}
	return found
}

func clockSkewed(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.ClockOffsetMilliseconds == nil {
			return Finding{}
		}
		off := time.Duration(min(max(*r.ClockOffsetMilliseconds, -1e12), 1e12)) * time.Millisecond
		where := "ahead of"
		if off < 0 {
			off, where = -off, "behind"
		}
		f := Finding{
			Severity: Warn,
			Message:  fmt.Sprintf("the clock of %s is %s %s the API server's", n.Name, off, where),
			Remedy:   fmt.Sprintf("Let it keep time: timedatectl status; systemctl restart chrony or systemd-timesyncd (on %s)", n.Name),
		}
		switch {
		case off >= clockFarApart:
			f.Severity = Block
			f.Message += ": certificates and leases go wrong"
		case off < clockApart:
			return Finding{}
		}
		return f
	})
}

func swapOn(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.SwapOn == nil || !*r.SwapOn {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s uses swap: the kubelet starts only while failSwapOn stays false", n.Name),
			Remedy:  "Nothing needs to be done if that is on purpose: kubectl -n kube-system get configmap kubelet-config -o yaml",
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
			Message: fmt.Sprintf("the host of node %s calls itself %s: kubeadm warns about that", n.Name, r.Hostname),
			Remedy:  "Nothing needs to be done if the node was joined under this name on purpose.",
		}
	})
}

// packagesHeld: holds on the packages of Kubernetes are as it should be. One on the container runtime is in the way of a ClusterRelease that brings another.
func packagesHeld(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		brings := slices.ContainsFunc(n.hops, func(h hop) bool { return h.release != nil && h.release.Payload.Containerd != "" })
		held := slices.DeleteFunc(slices.Clone(r.HeldPackages), func(name string) bool {
			return !strings.HasPrefix(name, "containerd") && name != "runc"
		})
		if len(held) == 0 || !brings {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s holds %s, and the ClusterRelease brings another version", n.Name, some(held)),
			Remedy:  fmt.Sprintf("If it may be upgraded: apt-mark unhold %s (on %s)", strings.Join(held, " "), n.Name),
		}
	})
}

func readOnlyHost(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if len(r.ReadOnlyPaths) == 0 {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s cannot be written on %s, and the upgrade has to", some(r.ReadOnlyPaths), n.Name),
			Remedy: fmt.Sprintf("Find out why: findmnt -T %s; dmesg | tail (on %s). A file system that failed is mounted read-only.",
				r.ReadOnlyPaths[0], n.Name),
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
				Message:  fmt.Sprintf("whether %s reaches the API endpoint is not known", n.Name),
				Remedy:   fmt.Sprintf("Ask from there: curl -k https://%s/readyz (on %s)", v.endpoint(), n.Name),
			}
		case !*r.EndpointReachable:
			return Finding{
				Message: fmt.Sprintf("%s does not reach the API endpoint %s", n.Name, v.endpoint()),
				Remedy:  fmt.Sprintf("Look at the way from there: curl -k https://%s/readyz (on %s)", v.endpoint(), n.Name),
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

func rpmHost(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		switch r.PackageKind {
		case refitv1alpha1.PackageBinary, refitv1alpha1.PackageDeb:
			return Finding{}
		case refitv1alpha1.PackageRpm:
			return Finding{
				Message: fmt.Sprintf("Kubernetes is installed from rpm packages on %s, which Refit cannot replace yet", n.Name),
				Remedy:  "Leave the node out with spec.nodeSelector, or install Kubernetes there as plain binaries or from deb packages.",
			}
		}
		return Finding{
			Unknown: true,
			Message: fmt.Sprintf("how Kubernetes was installed on %s is not known", n.Name),
			Remedy:  fmt.Sprintf("Look where the kubelet comes from: dpkg -S /usr/bin/kubelet (on %s)", n.Name),
		}
	})
}

func manifestUnparsable(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.Drift == nil || len(r.Drift.UnparsableManifests) == 0 {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s in /etc/kubernetes/manifests on %s cannot be read as a pod", some(r.Drift.UnparsableManifests), n.Name),
			Remedy:  "Mend the file, or move it out of the directory: the kubelet reads every file there, also backups.",
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
				Message:  fmt.Sprintf("whether the manifests on %s were edited by hand is not known: there was nothing to compare with", n.Name),
				Remedy:   "Compare them yourself before the upgrade writes them anew: kubeadm upgrade diff",
			}
		case len(r.Drift.Differences) == 0:
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("the manifests on %s differ from what kubeadm writes, and the upgrade loses that: %s",
				n.Name, some(r.Drift.Differences)),
			Remedy: "Write what must stay into kubeadm's configuration (extraArgs, extraVolumes) or into patches on the host.",
		}
	})
}

// rejectsReferences is the first version whose kubelet refuses static pods that refer to the API, whatever its gates.
const rejectsReferences = 37

func staticPodReferencesAPI(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		at := slices.IndexFunc(n.hops, func(h hop) bool { return h.version.Minor >= rejectsReferences })
		if at < 0 || r.Drift == nil || len(r.Drift.APIReferences) == 0 {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("static pods on %s (%s) refer to Secrets, ConfigMaps or ServiceAccounts: the kubelet of %s refuses them",
				n.Name, some(r.Drift.APIReferences), n.hops[at]),
			Remedy: "Put what they need into files on the host (hostPath), or make them a DaemonSet.",
		}
	})
}

func kubeletReplaced(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.Versions.Kubelet == "" || r.Versions.KubeletOnDisk == "" || r.Versions.Kubelet == r.Versions.KubeletOnDisk {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("%s runs the kubelet %s, and %s lies on its disk: somebody replaced it and did not restart it",
				n.Name, r.Versions.Kubelet, r.Versions.KubeletOnDisk),
			Remedy: fmt.Sprintf("Find out who (unattended-upgrades?), and restart it or put it back: systemctl restart kubelet (on %s)", n.Name),
		}
	})
}

// containerdMajor is 1 for containerd://1.7.2, and 0 for what is no containerd.
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
