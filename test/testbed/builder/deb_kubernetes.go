package builder

import "github.com/refit-dev/refit/test/testbed/versions"

// kubernetesDebs are kubelet, kubeadm and kubectl as packaged upstream, except that kubeadm does
// not depend on cri-tools: crictl comes from another repository, and kubeadm only warns if it is
// missing.
func kubernetesDebs(release versions.Release, binaries recipe) recipe {
	version := release.PackageVersion()
	return debs{
		name: "deb-kubernetes", release: release.Kubernetes, binaries: binaries,
		packages: []deb{
			{
				name: "kubelet", version: version, summary: "Node agent for Kubernetes clusters",
				depends:  "iptables (>= 1.4.21), kubernetes-cni (>= 1.2.0), iproute2, mount, util-linux, ethtool, conntrack, socat",
				binaries: map[string]string{"usr/bin/kubelet": "kubelet"},
				texts: map[string]string{
					"usr/lib/systemd/system/kubelet.service": kubeletUnit,
					"etc/default/kubelet":                    "KUBELET_EXTRA_ARGS=\n",
					"etc/kubernetes/manifests/.kubelet-keep": "",
					"var/lib/kubelet/.kubelet-keep":          "",
				},
				conffiles: []string{"/etc/default/kubelet"},
				scripts:   serviceScripts("kubelet.service", ""),
			},
			{
				name: "kubeadm", version: version, summary: "Command-line utility for administering a Kubernetes cluster",
				depends:  "kubelet (>= 1.30.0), kubectl (>= 1.30.0), kubernetes-cni (>= 1.2.0)",
				binaries: map[string]string{"usr/bin/kubeadm": "kubeadm"},
				texts:    map[string]string{"usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf": kubeadmDropIn},
			},
			{
				name: "kubectl", version: version, summary: "Command-line utility for interacting with a Kubernetes cluster",
				depends:  "libc6",
				binaries: map[string]string{"usr/bin/kubectl": "kubectl"},
			},
		},
	}
}

// cniDeb is kubernetes-cni: the plugins in /opt/cni/bin.
func cniDeb(binaries goBinaries) recipe {
	files := map[string]string{}
	for _, command := range binaries.commands {
		files["opt/cni/bin/"+command.file()] = command.file()
	}
	return debs{
		name: "deb-cni", release: versions.CNIPlugins, binaries: binaries,
		packages: []deb{{
			name: "kubernetes-cni", version: versions.CNIPackageVersion(), summary: "Container Network Interface plugins",
			depends: "libc6", binaries: files,
		}},
	}
}
