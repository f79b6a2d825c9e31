package builder

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// rpmTools downloads Debian's rpm and dnf, and the packages that they need and the root of the
// nodes does not have, to debs/. As with that root, the versions on the mirror are not part of the
// key.
type rpmTools struct{ debian recipe }

func (rpmTools) component() string      { return "rpm-tools" }
func (rpmTools) version() string        { return versions.Debian }
func (rpmTools) inputs() []string       { return nil }
func (rpmTools) usually() time.Duration { return 20 * time.Second }
func (r rpmTools) needs() []recipe      { return []recipe{r.debian} }

func (r rpmTools) build(ctx context.Context, shop *workshop, dir string) error {
	return downloadDebs(ctx, shop, r.debian, dir, "rpm", "dnf", "dnf-plugins-core")
}

// rpmMacros move the database from the home directory, where Debian's rpm has it, to the usual
// place.
const rpmMacros = "%_dbpath /var/lib/rpm\n"

// baseRpm stands for the packages of the distribution that the others require: a node's own files
// come from Debian and are in no rpm package.
func baseRpm(tool recipe) recipe {
	return rpms{
		name: "rpm-base", release: versions.Debian, nfpm: tool,
		packages: []rpmPackage{{
			name: "testbed-base", version: "1", release: "1", summary: "Requirements of other packages that Debian meets",
			provides: []string{"/bin/sh", "container-selinux = 2:2.200", "iptables = 1.8.9", "libseccomp = 2.5.4", "util-linux = 2.38"},
		}},
	}
}

// dpkgFiles are dpkg, apt and what they know of the host.
var dpkgFiles = []string{
	"usr/bin/apt*", "usr/bin/dpkg*", "usr/sbin/dpkg*", "usr/lib/apt", "usr/lib/dpkg", "etc/apt", "etc/dpkg", "var/lib/apt", "var/lib/dpkg", "var/cache/apt",
}

// installRpmTools makes the root one of a host that only rpm manages: it installs rpm and dnf, and
// removes dpkg.
func (n nodeRoot) installRpmTools(ctx context.Context, shop *workshop, root string) error {
	debs, err := debsOf(shop.cache, []recipe{n.parts.rpmTools})
	if err != nil {
		return err
	}
	argv := []string{"apt-get", "install", "--yes", "--no-install-recommends"}
	for _, deb := range debs {
		argv = append(argv, "/mnt/"+filepath.Base(deb))
	}
	if err := shop.run(ctx, inRoot(root, []string{"--bind-ro=" + filepath.Dir(debs[0]) + ":/mnt"}, argv...)); err != nil {
		return fmt.Errorf("installing rpm: %w", err)
	}
	if err := shop.run(ctx, inRoot(root, nil, "dpkg", "--purge", "runc")); err != nil {
		return err
	}
	if err := removeAll(root, dpkgFiles); err != nil {
		return err
	}
	return writeFile(filepath.Join(root, "etc/rpm/macros"), rpmMacros, 0o644)
}

// rpms returns the recipes of the packages of the node.
func (n nodeRoot) rpms() []recipe {
	containerd := n.parts.containerdRpm
	if n.spec.Containerd == ContainerdDebian {
		containerd = n.parts.oldContainerdRpm
	}
	return []recipe{n.parts.baseRpm, n.parts.cniRpm, containerd, n.parts.kubernetesRpms}
}

// installRpms installs containerd and Kubernetes with rpm, and locks the version of Kubernetes with
// dnf.
func (n nodeRoot) installRpms(ctx context.Context, shop *workshop, root string) error {
	packages, err := rpmsOf(shop.cache, n.rpms())
	if err != nil {
		return err
	}
	var binds []string
	argv := []string{"rpm", "--install", "--verbose"}
	for _, file := range packages {
		inside := "/run/" + filepath.Base(file)
		binds, argv = append(binds, "--bind-ro="+file+":"+inside), append(argv, inside)
	}
	if err := shop.run(ctx, inRoot(root, binds, argv...)); err != nil {
		return fmt.Errorf("installing rpm packages: %w", err)
	}
	lock := append([]string{"dnf", "--disablerepo=*", "versionlock", "add"}, heldPackages...)
	return shop.run(ctx, inRoot(root, nil, lock...))
}
