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

// debianPackages is what a node has besides Debian's minimum.
var debianPackages = []string{
	"systemd", "systemd-sysv", "dbus", // a node boots a real systemd
	"containerd", "runc", // containerd only for its .deb: see keepPackages
	"iptables", "nftables", "ebtables", "iproute2", "conntrack", "socat", "ethtool", "kmod", // kubeadm's preflight and kube-proxy
	"ca-certificates", "procps", "mount", "curl", // a person who looks around
	"busybox-static", // the smoke workloads' image is made from it
	"strace",         // fault injection
}

// debianPlaces are directories that later steps bind over. They are made here
// because systemd-nspawn would make them inside a finished entry.
var debianPlaces = []string{"srv/apt", "var/lib/containerd", "opt/cni/bin", "etc/cni/net.d", "etc/containerd"}

// aptSource is the only apt source of a node: the testbed's repository.
const aptSource = "deb [trusted=yes] file:" + aptMountPoint + " ./\n"

// nowhere is the node's resolver until someone writes another one. An address
// that never answers (RFC 5737), because CoreDNS refuses to start without any,
// and takes a loopback address for a loop.
const nowhere = "nameserver 192.0.2.53\n"

// debian is the root file system that all node images start from, in root/,
// with the .debs of containerd and runc beside it in debs/. What the mirror
// serves today is not part of the key: the entry's packages.txt says what it got.
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

// debianMirror is where this machine's own apt gets our suite from, or "" to
// leave the choice to debootstrap.
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

// keepPackages moves the .debs of some packages out of debootstrap's archive.
func keepPackages(root, into string, names ...string) error {
	if err := os.Mkdir(into, 0o755); err != nil {
		return fmt.Errorf("keeping packages: %w", err)
	}
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(root, "var/cache/apt/archives", name+"_*.deb"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("keeping packages: want one .deb of %s, found %v", name, found)
		}
		// apt writes the colon of an epoch as %3a; a plain name is easier to serve.
		to := filepath.Join(into, strings.ReplaceAll(filepath.Base(found[0]), "%3a", "."))
		if err := os.Rename(found[0], to); err != nil {
			return fmt.Errorf("keeping packages: %w", err)
		}
	}
	return nil
}
