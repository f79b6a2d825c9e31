package builder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// nodeFormat is incremented when the root of a node changes in code, which is not part of the key.
const nodeFormat = "2"

// heldPackages are on hold, so that a routine apt upgrade does not upgrade the cluster.
var heldPackages = []string{"kubelet", "kubeadm", "kubectl"}

// nodeRoot is the recipe of a node's root file system, in root/: a copy of the Debian root with
// containerd, Kubernetes and the CNI plugins.
type nodeRoot struct {
	spec  NodeImageSpec
	parts parts
}

func (nodeRoot) component() string      { return "node" }
func (nodeRoot) usually() time.Duration { return 15 * time.Second }

func (n nodeRoot) version() string {
	return fmt.Sprintf("%s-%s-%s", n.parts.release.Kubernetes, n.spec.Install, n.spec.Containerd)
}

func (n nodeRoot) inputs() []string {
	inputs := []string{nodeFormat, containerdConfig(n.spec.Containerd, n.parts.release)}
	switch n.spec.Install {
	case InstallBinaries:
		inputs = append(inputs, kubeletUnit, kubeadmDropIn, containerdUnit)
	case InstallRpm:
		inputs = append(append(inputs, rpmMacros), dpkgFiles...)
	}
	return append(inputs, heldPackages...)
}

func (n nodeRoot) needs() []recipe {
	p := n.parts
	switch {
	case n.spec.Install == InstallRpm:
		return append([]recipe{p.debian, p.rpmTools}, n.rpms()...)
	case n.spec.Install == InstallDeb:
		return p.debs()
	case n.spec.Containerd == ContainerdDebian:
		return []recipe{p.debian, p.kubernetes, p.cni}
	default:
		return []recipe{p.debian, p.kubernetes, p.cni, p.containerd}
	}
}

func (n nodeRoot) build(ctx context.Context, shop *workshop, dir string) error {
	root := filepath.Join(dir, "root")
	base := filepath.Join(shop.of(n.parts.debian), "root")
	if err := shop.run(ctx, command{argv: []string{"cp", "--archive", "--reflink=auto", base, root}}); err != nil {
		return err
	}
	steps := []func(context.Context, *workshop, string) error{n.installContainerd, n.installKubernetes, n.configure}
	if n.spec.Install == InstallRpm {
		steps = []func(context.Context, *workshop, string) error{n.installRpmTools, n.installRpms, n.configure}
	}
	for _, install := range steps {
		if err := install(ctx, shop, root); err != nil {
			return err
		}
	}
	return nil
}

// installContainerd installs Debian's package, or the built containerd: as binaries or as a
// package, like Kubernetes. The built package upgrades Debian's, as on a node with a history: dpkg
// knows Debian's configuration file then, and a downgrade does not prompt.
func (n nodeRoot) installContainerd(ctx context.Context, shop *workshop, root string) error {
	if n.spec.Containerd == ContainerdDebian || n.spec.Install == InstallDeb {
		err := aptInstall(ctx, shop, root, []recipe{n.parts.debian}, "containerd="+versions.DebianContainerd+"*")
		if err != nil || n.spec.Containerd == ContainerdDebian {
			return err
		}
		return aptInstall(ctx, shop, root, n.parts.debs(), "containerd="+versions.ContainerdPackageVersion())
	}
	if err := copyBinaries(filepath.Join(shop.of(n.parts.containerd), "bin"), filepath.Join(root, "usr/local/bin")); err != nil {
		return err
	}
	return addUnit(root, "usr/local/lib/systemd/system", "containerd.service", inLocalBin(containerdUnit))
}

func (n nodeRoot) installKubernetes(ctx context.Context, shop *workshop, root string) error {
	if n.spec.Install == InstallDeb {
		version := n.parts.release.PackageVersion()
		err := aptInstall(ctx, shop, root, n.parts.debs(), "kubernetes-cni="+versions.CNIPackageVersion(),
			"kubelet="+version, "kubeadm="+version, "kubectl="+version)
		if err != nil {
			return err
		}
		return shop.run(ctx, inRoot(root, nil, append([]string{"apt-mark", "hold"}, heldPackages...)...))
	}
	bin := filepath.Join(shop.of(n.parts.kubernetes), "bin")
	if err := copyBinaries(bin, filepath.Join(root, "usr/local/bin"), "kubelet", "kubeadm", "kubectl"); err != nil {
		return err
	}
	if err := copyBinaries(filepath.Join(shop.of(n.parts.cni), "bin"), filepath.Join(root, "opt/cni/bin")); err != nil {
		return err
	}
	if err := addUnit(root, "etc/systemd/system", "kubelet.service", inLocalBin(kubeletUnit)); err != nil {
		return err
	}
	return writeFile(filepath.Join(root, "etc/systemd/system/kubelet.service.d/10-kubeadm.conf"), inLocalBin(kubeadmDropIn), 0o644)
}

func (n nodeRoot) configure(_ context.Context, _ *workshop, root string) error {
	config := containerdConfig(n.spec.Containerd, n.parts.release)
	if err := writeFile(filepath.Join(root, "etc/containerd/config.toml"), config, 0o644); err != nil {
		return err
	}
	return trim(root)
}

// addUnit writes and enables a unit.
func addUnit(root, dir, name, text string) error {
	if err := writeFile(filepath.Join(root, dir, name), text, 0o644); err != nil {
		return err
	}
	wants := filepath.Join(root, "etc/systemd/system/multi-user.target.wants")
	if err := os.MkdirAll(wants, 0o755); err != nil {
		return fmt.Errorf("enabling %s: %w", name, err)
	}
	if err := os.Symlink("/"+filepath.Join(dir, name), filepath.Join(wants, name)); err != nil {
		return fmt.Errorf("enabling %s: %w", name, err)
	}
	return nil
}

// aptInstall installs packages with the node's apt, after publishing the packages of the given
// entries.
func aptInstall(ctx context.Context, shop *workshop, root string, entries []recipe, packages ...string) error {
	debs, err := debsOf(shop.cache, entries)
	if err != nil {
		return err
	}
	if !shop.apt.holds(debs) {
		if err := shop.apt.publish(ctx, debs); err != nil {
			return err
		}
	}
	repository := []string{"--bind-ro=" + shop.apt.dir + ":" + aptMountPoint}
	if err := shop.run(ctx, inRoot(root, repository, "apt-get", "update")); err != nil {
		return err
	}
	argv := append([]string{"apt-get", "install", "--yes", "--no-install-recommends"}, packages...)
	if err := shop.run(ctx, inRoot(root, repository, argv...)); err != nil {
		return fmt.Errorf("installing %s: %w", strings.Join(packages, ", "), err)
	}
	return nil
}
