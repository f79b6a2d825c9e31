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

// debianPackages are installed in addition to Debian's minimum.
var debianPackages = []string{
	"systemd", "systemd-sysv", "dbus", // a node boots a real systemd
	"containerd", "runc", // containerd only for its .deb: see keepPackages
	// Kubeadm's preflight and kube-proxy.
	"iptables", "nftables", "ebtables", "iproute2", "conntrack", "socat", "ethtool", "kmod",
	"ca-certificates", "procps", "mount", "curl", // for interactive use
	"busybox-static", // source of the image of smoke workloads
	"strace",         // fault injection
}

// debianPlaces are mount points for later steps. They are created here, because systemd-nspawn
// would create them in a finished entry.
var debianPlaces = []string{"srv/apt", "var/lib/containerd", "opt/cni/bin", "etc/cni/net.d", "etc/containerd"}

// aptSource is the only apt source of a node: the testbed's repository.
const aptSource = "deb [trusted=yes] file:" + aptMountPoint + " ./\n"

// nowhere is the initial resolver of the node, an address that never responds (RFC 5737): CoreDNS
// does not start without a resolver, and treats a loopback address as a loop.
const nowhere = "nameserver 192.0.2.53\n"

// debian is the root file system of all node images, in root/, with the packages of containerd and
// runc in debs/. The versions on the mirror are not part of the key: packages.txt of the entry
// lists the versions.
type debian struct{}

func (debian) component() string      { return "debian" }
func (debian) version() string        { return versions.Debian }
func (debian) needs() []recipe        { return nil }
func (debian) usually() time.Duration { return 90 * time.Second }

func (debian) inputs() []string {
	inputs := append([]string{aptSource, nowhere}, debianPackages...)
	return append(append(inputs, debianPlaces...), debianRubbish...)
}

func (debian) build(ctx context.Context, shop *workshop, dir string) error {
	root := filepath.Join(dir, "root")
	if err := debootstrap(ctx, shop, root); err != nil {
		return err
	}
	if err := keepPackages(root, filepath.Join(dir, "debs"), "containerd", "runc"); err != nil {
		return err
	}
	if err := shop.run(ctx, inRoot(root, nil, "dpkg", "--purge", "containerd")); err != nil {
		return err
	}
	list, err := shop.output(ctx, inRoot(root, nil, "dpkg-query", "--show"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "packages.txt"), []byte(list), 0o644); err != nil {
		return fmt.Errorf("listing packages: %w", err)
	}
	if err := trim(root); err != nil {
		return err
	}
	return furnish(root)
}

func debootstrap(ctx context.Context, shop *workshop, root string) error {
	argv := []string{"debootstrap", "--variant=minbase", "--include=" + strings.Join(debianPackages, ","), versions.Debian, root}
	if mirror := debianMirror(ctx, shop); mirror != "" {
		argv = append(argv, mirror)
	}
	return shop.run(ctx, command{argv: enclosed(argv...)})
}

// debianMirror returns the mirror that the machine's own apt uses for the suite, or "" for
// debootstrap's default.
func debianMirror(ctx context.Context, shop *workshop) string {
	text, err := shop.output(ctx, command{argv: []string{
		"apt-get", "indextargets", "--format", "$(REPO_URI)|$(CODENAME)|$(COMPONENT)", "Created-By: Packages",
	}})
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) == 3 && fields[1] == versions.Debian && fields[2] == "main" {
			return fields[0]
		}
	}
	return ""
}

// downloadDebs downloads packages of Debian, and those that they need and the root of the nodes
// does not have, to debs/ in dir.
func downloadDebs(ctx context.Context, shop *workshop, root recipe, dir string, packages ...string) error {
	debs := filepath.Join(dir, "debs")
	if err := os.MkdirAll(filepath.Join(debs, "partial"), 0o755); err != nil {
		return fmt.Errorf("creating directory: %w", err)
	}
	err := shop.run(ctx, command{argv: append([]string{
		"apt-get", "--yes", "--download-only", "--no-install-recommends", "--option", "Debug::NoLocking=1",
		"--option", "Dir::State::status=" + filepath.Join(shop.of(root), "root/var/lib/dpkg/status"),
		"--option", "Dir::Cache::archives=" + debs, "install",
	}, packages...)})
	if err != nil {
		return fmt.Errorf("downloading %s: %w", strings.Join(packages, ", "), err)
	}
	return os.RemoveAll(filepath.Join(debs, "partial"))
}

// keepPackages moves the files of some packages out of debootstrap's archive.
func keepPackages(root, into string, names ...string) error {
	if err := os.Mkdir(into, 0o755); err != nil {
		return fmt.Errorf("keeping packages: %w", err)
	}
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(root, "var/cache/apt/archives", name+"_*.deb"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("keeping packages: want one .deb of %s, found %v", name, found)
		}
		// apt escapes the colon of an epoch as %3a.
		to := filepath.Join(into, strings.ReplaceAll(filepath.Base(found[0]), "%3a", "."))
		if err := os.Rename(found[0], to); err != nil {
			return fmt.Errorf("keeping packages: %w", err)
		}
	}
	return nil
}
