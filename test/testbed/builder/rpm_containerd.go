package builder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// containerdRpm is containerd.io, as in Docker's repository: it contains runc and has a
// configuration file that disables CRI, which the file of the node replaces.
func containerdRpm(tool recipe, version string, binaries, debianRuntime recipe) recipe {
	return rpms{
		name: "rpm-containerd", release: version, nfpm: tool,
		packages: []rpmPackage{{
			name: "containerd.io", version: version, release: "1.el9", summary: "An industry-standard container runtime",
			requires: []string{"/bin/sh", "container-selinux >= 2:2.74", "libseccomp"}, provides: []string{"containerd", "runc"},
			binaries: slices.Concat(
				binariesOf(binaries, "/usr/bin", "containerd", "containerd-shim-runc-v2", "ctr"),
				binariesOf(debianRuntime, "/usr/bin", "runc"),
			),
			texts:   map[string]string{"/usr/lib/systemd/system/containerd.service": containerdUnit},
			config:  map[string]string{"/etc/containerd/config.toml": "disabled_plugins = [\"cri\"]\n"},
			scripts: rpmServiceScripts("containerd.service", true),
		}},
	}
}

// debianRuntime is the recipe of the binaries in Debian's packages of containerd and runc, in bin/.
type debianRuntime struct{ debian recipe }

func (debianRuntime) component() string      { return "debian-runtime" }
func (debianRuntime) version() string        { return versions.Debian }
func (debianRuntime) inputs() []string       { return nil }
func (debianRuntime) usually() time.Duration { return time.Second }
func (d debianRuntime) needs() []recipe      { return []recipe{d.debian} }

func (d debianRuntime) build(ctx context.Context, shop *workshop, dir string) error {
	unpacked := filepath.Join(dir, "unpacked")
	packages, err := debsOf(shop.cache, []recipe{d.debian})
	if err != nil {
		return err
	}
	for _, file := range packages {
		if err := shop.run(ctx, command{argv: []string{"dpkg-deb", "--extract", file, unpacked}}); err != nil {
			return err
		}
	}
	bin := filepath.Join(dir, "bin")
	if err := copyBinaries(filepath.Join(unpacked, "usr/bin"), bin, "containerd", "containerd-shim-runc-v2", "ctr"); err != nil {
		return err
	}
	if err := copyBinaries(filepath.Join(unpacked, "usr/sbin"), bin, "runc"); err != nil {
		return err
	}
	if err := os.RemoveAll(unpacked); err != nil {
		return fmt.Errorf("removing %s: %w", unpacked, err)
	}
	return nil
}
