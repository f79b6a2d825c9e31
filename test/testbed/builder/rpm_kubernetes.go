package builder

import (
	"strings"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// kubernetesRpms are kubelet, kubeadm and kubectl with the names, dependencies and files of
// upstream's rpm packages, except for their documentation, which nodes lack.
func kubernetesRpms(release versions.Release, tool, binaries recipe) recipe {
	one := func(name, summary string) rpmPackage {
		return rpmPackage{
			name: name, version: strings.TrimPrefix(release.Kubernetes, "v"), release: versions.RpmRelease, summary: summary,
			binaries: binariesOf(binaries, "/usr/bin", name),
		}
	}
	kubelet := one("kubelet", "Node agent for Kubernetes clusters")
	kubelet.requires, kubelet.recommends = []string{"/bin/sh", "kubernetes-cni >= 1.2.0", "util-linux"}, []string{"iptables >= 1.8.4"}
	kubelet.texts = map[string]string{"/usr/lib/systemd/system/kubelet.service": kubeletUnit}
	kubelet.config = map[string]string{"/etc/sysconfig/kubelet": "KUBELET_EXTRA_ARGS=\n"}
	kubelet.directories = map[string]uint32{"/var/lib/kubelet": 0o755, "/etc/kubernetes": 0o755, "/etc/kubernetes/manifests": 0o755}
	kubelet.scripts = rpmServiceScripts("kubelet.service", false)

	kubeadm := one("kubeadm", "Command-line utility for administering a Kubernetes cluster")
	kubeadm.texts = map[string]string{
		"/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf": strings.ReplaceAll(kubeadmDropIn, "/etc/default/kubelet", "/etc/sysconfig/kubelet"),
	}
	kubeadm.directories = map[string]uint32{"/usr/lib/systemd/system/kubelet.service.d": 0o755}

	return rpms{
		name: "rpm-kubernetes", release: release.Kubernetes, nfpm: tool,
		packages: []rpmPackage{kubelet, kubeadm, one("kubectl", "Command-line utility for interacting with a Kubernetes cluster")},
	}
}

// cniRpm is kubernetes-cni: the plugins in /opt/cni/bin.
func cniRpm(tool recipe, binaries goBinaries) recipe {
	var plugins []string
	for _, command := range binaries.commands {
		plugins = append(plugins, command.file())
	}
	return rpms{
		name: "rpm-cni", release: versions.CNIPlugins, nfpm: tool,
		packages: []rpmPackage{{
			name: "kubernetes-cni", version: strings.TrimPrefix(versions.CNIPlugins, "v"), release: versions.RpmRelease,
			summary:     "Binaries required to provision kubernetes container networking",
			binaries:    binariesOf(binaries, "/opt/cni/bin", plugins...),
			directories: map[string]uint32{"/opt/cni": 0o755, "/opt/cni/bin": 0o755, "/etc/cni": 0o755, "/etc/cni/net.d": 0o755},
		}},
	}
}
