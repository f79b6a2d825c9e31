package compatibility

// Table has all rows of docs/compatibility.md.
var Table = []Section{
	{"Kubernetes", []Row{
		{Kind: "Upgrade 1.35 → 1.36, 1.36 → 1.37, and 1.35 → 1.37 in one plan", Status: Tested, Tests: []string{"TestUpgradeKinds/two hops"}},
		{
			Kind: "Controllers, admission policies and CRDs on API servers 1.34, 1.35, 1.36 and 1.37", Status: Tested,
			Evidence: "`make test-apiserver-all`",
		},
		{
			Kind: "Upgrade 1.33 → 1.34 and 1.34 → 1.35, and patch upgrades within 1.34 to 1.37", Status: Expected,
			Evidence: "facts about the targets are generated from their source",
		},
		{Kind: "Workers up to three minor versions behind the control plane", Status: Expected, Evidence: "unit tests of the plan"},
		{
			Kind: "A target below 1.34 or above 1.37", Status: Refused, Checks: []string{"VersionPathUnsupported"},
			Evidence: "the command exits with 2",
		},
		{Kind: "A hop below 1.34, or a control plane below 1.31", Status: Refused, Checks: []string{"VersionPathUnsupported"}},
		{
			Kind: "A downgrade", Status: Refused, Reasons: []string{"Downgrade"},
			Evidence: "the command exits with 2; a ClusterUpgrade stalls with reason `Blocked`",
		},
		{Kind: "`refit install` on an API server below 1.31", Status: Refused, Evidence: "the command exits with 1"},
		{Kind: "Clusters that kubeadm did not create", Status: Refused, Checks: []string{"KubeadmConfigMissing"}},
	}},
	{"Control plane", []Row{
		{Kind: "One control plane node", Status: Tested, Tests: []string{"TestUpgradeKinds/a single node in the cluster"}},
		{Kind: "Three control plane nodes behind HAProxy", Status: Tested, Tests: []string{"TestUpgradeKinds/three and two in the cluster"}},
		{Kind: "Five control plane nodes", Status: Expected},
		{
			Kind: "A virtual IP of keepalived that leaves a node whose API server is down", Status: Tested,
			Note:  "the holder is upgraded last",
			Tests: []string{"TestVirtualIPKeepalived", "TestVirtualIPPowerCut"},
		},
		{
			Kind: "A virtual IP of kube-vip in static pods, with leader election", Status: Tested, Note: "the holder is upgraded last",
			Tests: []string{"TestVirtualIPKubeVIP"},
		},
		{
			Kind: "A virtual IP that other software moves, or kube-vip in a DaemonSet", Status: Expected,
			Note: "with a warning: check whether the address leaves a node whose API server is down", Checks: []string{"VirtualIPUnchecked"},
		},
		{
			Kind: "A virtual IP that stays on a node whose API server is down", Status: Tested,
			Note:  "with a warning: the API is unavailable at that address meanwhile",
			Tests: []string{"TestVirtualIPKeepalivedUnchecked"}, Checks: []string{"VirtualIPUnchecked"},
		},
		{
			Kind: "The address of the API endpoint on several control plane nodes, except with kube-vip and BGP", Status: Refused, Note: "can be waived",
			Reasons: []string{"ControlPlaneUnhealthy"}, Evidence: "check `EndpointHeldTwice` warns",
		},
		{
			Kind: "Stacked etcd, one or three members, 3.6.6 → 3.6.8 → 3.7.0", Status: Tested, Tests: []string{"TestUpgradeKinds/two hops"},
		},
		{Kind: "Two etcd members", Status: Refused, Note: "can be waived", Checks: []string{"EtcdTwoMembers"}},
		{Kind: "etcd older than 3.5.26, if the upgrade takes it to 3.6", Status: Refused, Checks: []string{"EtcdTooOld"}},
		{
			Kind: "External etcd, on the control plane hosts or on hosts of its own", Status: Tested,
			Note:  "Refit checks every member and backs it up with the client certificate of the API server, and neither upgrades nor restores it",
			Tests: []string{"TestExternalEtcdOnControlPlanes", "TestExternalEtcdOnItsOwnHosts"}, Checks: []string{"EtcdExternal"},
		},
		{
			Kind: "The certificates, etcd and kubelets of kubespray", Status: Tested,
			Note:  "`KubeletConfigElsewhere` has to be waived: the kubelets keep the configuration that kubespray writes",
			Tests: []string{"TestKubesprayLayout"},
		},
		{Kind: "External etcd older than kubeadm supports", Status: Refused, Checks: []string{"EtcdExternalTooOld"}},
		{Kind: "kubeadm patches, as a directory on the host", Status: Expected, Evidence: "unit tests"},
		{Kind: "kubeadm's feature gate `RootlessControlPlane`", Status: Refused, Checks: []string{"KubeadmGateInvalid"}},
	}},
	{"Hosts", []Row{
		{Kind: "Debian 12 with systemd", Status: Tested, Tests: []string{"TestUpgradeCI"}},
		{Kind: "Other distributions with systemd, and Kubernetes from binaries or deb packages", Status: Expected},
		{Kind: "Kubernetes from binaries", Status: Tested, Tests: []string{"TestUpgradeCI"}},
		{Kind: "Kubernetes from deb packages on hold", Status: Tested, Tests: []string{"TestUpgradeKinds/packages and containerd"}},
		{
			Kind: "Kubernetes from rpm packages, locked with dnf 4", Status: Tested,
			Note:  "with rpm 4.18 and dnf 4.14 of Debian, not on [Rocky Linux or RHEL](agent.md#rpm-packages)",
			Tests: []string{"TestRpm", "TestAgentRpm"},
		},
		{Kind: "Rocky Linux, RHEL and other distributions with rpm", Status: Expected},
		{Kind: "Packages of rpm format 6", Status: Refused, Note: "before the first change", Reasons: []string{"RepackFailed"}},
		{Kind: "A kubelet in `/opt/bin`", Status: Expected, Evidence: "unit tests"},
		{
			Kind: "A directory that the upgrade must write and that is read-only, such as `/usr` with a part of the ClusterRelease", Status: Refused,
			Checks: []string{"ReadOnlyHost"},
		},
		{
			Kind: "A kubelet that does not read `/var/lib/kubelet/config.yaml`, as kubespray starts it", Status: Refused, Note: "can be waived",
			Checks: []string{"KubeletConfigElsewhere"},
		},
		{Kind: "A kubelet or containerd that a script starts", Status: Refused, Checks: []string{"ServiceWrapped"}},
		{Kind: "`/etc/kubernetes/manifests`, or a manifest in it, as a symlink", Status: Expected, Evidence: "unit tests"},
		{Kind: "A worker with a copy of `admin.conf`", Status: Expected, Evidence: "unit tests"},
		{
			Kind: "ACLs and extended attributes, such as SELinux labels, on files that Refit replaces", Status: Tested,
			Note: "they are kept; enforcement by SELinux is not tested", Tests: []string{"TestAgentAttributes"},
		},
		{
			Kind: "Another dpkg or rpm that runs when the upgrade starts", Status: Tested, Note: "the agent waits for up to 30 minutes",
			Tests: []string{"TestAgentPackageLock"},
		},
		{Kind: "Windows nodes", Status: Skipped, Note: "with a warning", Checks: []string{"WindowsNode"}},
		{
			Kind: "Virtual nodes, such as those of Liqo, which have no machine", Status: Skipped, Tests: []string{"TestComponentsLiqo"},
			Checks: []string{"VirtualNode"},
		},
		{Kind: "amd64", Status: Tested, Tests: []string{"TestUpgradeCI"}},
		{
			Kind: "arm64, also mixed with amd64", Status: Expected, Note: "every change is built and vetted for it, and the images have both platforms",
			Evidence: "`make verify-arm64`; unit tests", Checks: []string{"NotInRelease"},
		},
		{
			Kind: "ppc64le, s390x", Status: Expected, Note: "ClusterReleases can have files for them; build the agent yourself",
			Evidence: "unit tests only",
		},
		{
			Kind: "cgroup v1", Status: Tested, Note: "with `failCgroupV1: false` in the kubelet configuration", Tests: []string{"TestUpgradeCI"},
		},
		{Kind: "cgroup v1 without that setting", Status: Refused, Checks: []string{"CgroupV1"}},
		{Kind: "cgroup v2", Status: Expected, Evidence: "a control plane node of the testbed with it (docs/testbed.md); no upgrade"},
		{Kind: "Swap enabled", Status: Expected, Note: "with a note", Checks: []string{"SwapOn"}},
	}},
	{"Container runtime and network", []Row{
		{
			Kind: "containerd 1.6.20 (Debian) → 2.4.2, from packages", Status: Tested,
			Tests: []string{"TestUpgradeKinds/packages and containerd"},
		},
		{Kind: "containerd 2.4.2 that stays", Status: Tested, Tests: []string{"TestUpgradeCI"}},
		{Kind: "Other versions of containerd from 1.6", Status: Expected},
		{Kind: "A container runtime without version 1 of the CRI", Status: Refused, Reasons: []string{"RuntimeTooOld"}},
		{Kind: "CRI-O and other runtimes", Status: Refused, Checks: []string{"RuntimeUnsupported"}},
		{
			Kind: "`containerd.io` of the Docker repository", Status: Expected,
			Note: "a ClusterRelease with Debian's `containerd` only is refused for such a host", Checks: []string{"NotInRelease"},
		},
		{Kind: "CNI plugins 1.9.1 (bridge, host-local, portmap, loopback)", Status: Tested, Tests: []string{"TestUpgradeCI"}},
		{Kind: "Network add-ons such as Cilium, Calico or Flannel", Status: Expected, Note: "Refit does not upgrade them"},
		{Kind: "kube-proxy in its default mode", Status: Tested, Tests: []string{"TestUpgradeCI"}},
		{Kind: "kube-proxy in IPVS mode", Status: Expected, Note: "with a warning", Checks: []string{"IPVSMode"}},
		{Kind: "Clusters without kube-proxy", Status: Expected},
		{Kind: "IPv6 and dual-stack", Status: Expected},
	}},
	{"Other software", []Row{
		{
			Kind: "Flux and Argo CD", Status: Expected, Note: "with a note; the ClusterUpgrade reports kstatus conditions",
			Checks: []string{"GitOpsActive"},
		},
		{Kind: "Cluster Autoscaler", Status: Expected, Note: "with a warning", Checks: []string{"ClusterAutoscalerActive"}},
		{Kind: "Cluster API", Status: Expected, Note: "with a warning: it may replace nodes", Checks: []string{"ClusterAPIManaged"}},
		{
			Kind: "system-upgrade-controller, kured and other software that drains nodes", Status: Expected,
			Note: "with a warning; refused while it changes a node", Checks: []string{"OtherUpgrader"},
		},
	}},
}
