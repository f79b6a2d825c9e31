package builder

import "github.com/refit-dev/refit/test/testbed/versions"

// parts are the recipes of a Kubernetes release.
type parts struct {
	release versions.Release

	debian     recipe // root of the nodes, Debian's own containerd and runc
	kubernetes recipe // the seven commands
	etcd       recipe
	coredns    recipe
	pause      recipe
	cni        goBinaries // CNI plugins
	containerd recipe     // the containerd to upgrade to
	images     images     // container images of the above

	kubernetesDebs recipe // kubelet, kubeadm, kubectl
	cniDeb         recipe // kubernetes-cni
	containerdDeb  recipe // containerd, named like Debian's
}

// partsOf returns the recipes of a release.
func partsOf(toolchain string, release versions.Release) parts {
	p := parts{
		release:    release,
		debian:     debian{},
		kubernetes: kubernetes(toolchain, release),
		etcd:       etcd(toolchain, release.Etcd),
		coredns:    coredns(toolchain, release.CoreDNS),
		pause:      pause{tag: release.Pause},
		cni:        cniPlugins(toolchain, versions.CNIPlugins),
		containerd: containerd(toolchain, versions.Containerd),
	}
	p.images = images{
		release: release,
		debian:  p.debian, kubernetes: p.kubernetes, etcd: p.etcd, coredns: p.coredns, pause: p.pause,
	}
	p.kubernetesDebs = kubernetesDebs(release, p.kubernetes)
	p.cniDeb = cniDeb(p.cni)
	p.containerdDeb = containerdDeb(p.containerd)
	return p
}

// all returns the recipes in build order: what takes longest to fail comes last.
func (p parts) all() []recipe {
	return []recipe{
		p.pause, p.debian, p.cni, p.etcd, p.containerd, p.coredns, p.kubernetes, p.images,
		p.cniDeb, p.containerdDeb, p.kubernetesDebs,
	}
}

// debs returns the recipes of packages for the apt repository.
func (p parts) debs() []recipe {
	return []recipe{p.debian, p.cniDeb, p.containerdDeb, p.kubernetesDebs}
}
