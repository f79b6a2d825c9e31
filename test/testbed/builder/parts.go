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

	nfpm             recipe // builds the rpm packages
	runtime          recipe // Debian's containerd and runc for them
	rpmTools         recipe // rpm and dnf
	baseRpm          recipe // what the other rpm packages require
	kubernetesRpms   recipe // kubelet, kubeadm, kubectl
	cniRpm           recipe // kubernetes-cni
	containerdRpm    recipe // containerd.io with the containerd to upgrade to
	oldContainerdRpm recipe // containerd.io with Debian's containerd
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
	p.nfpm, p.runtime, p.rpmTools = nfpm(toolchain), debianRuntime{debian: p.debian}, rpmTools{debian: p.debian}
	p.baseRpm = baseRpm(p.nfpm)
	p.kubernetesRpms = kubernetesRpms(release, p.nfpm, p.kubernetes)
	p.cniRpm = cniRpm(p.nfpm, p.cni)
	p.containerdRpm = containerdRpm(p.nfpm, versions.ContainerdRelease, p.containerd, p.runtime)
	p.oldContainerdRpm = containerdRpm(p.nfpm, versions.DebianContainerd, p.runtime, p.runtime)
	return p
}

// all returns the recipes in build order: what takes longest to fail comes last.
func (p parts) all() []recipe {
	return []recipe{
		p.pause, p.debian, p.cni, p.etcd, p.containerd, p.coredns, p.kubernetes, p.images,
		p.cniDeb, p.containerdDeb, p.kubernetesDebs,
	}
}

// rpms returns the recipes of the rpm packages that a ClusterRelease can have. They are built only
// for clusters that were installed from rpm packages.
func (p parts) rpms() []recipe { return []recipe{p.cniRpm, p.containerdRpm, p.kubernetesRpms} }

// debs returns the recipes of packages for the apt repository.
func (p parts) debs() []recipe {
	return []recipe{p.debian, p.cniDeb, p.containerdDeb, p.kubernetesDebs}
}
