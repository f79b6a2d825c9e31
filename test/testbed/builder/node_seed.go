package builder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// seedFormat is raised when the way in which the store is filled changes.
const seedFormat = "1"

// seedTimeout is how long containerd may take to answer, and to stop.
const seedTimeout = 30 * time.Second

// seedConfig is enough of a containerd to import images: the kubelet's part of it is off.
const seedConfig = "version = 2\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n"

// containerdSeed is the recipe of a /var/lib/containerd, in containerd/, that
// holds all images of a release, unpacked. The node's own version of containerd
// fills it, because the layout of its database is that version's.
type containerdSeed struct {
	kind  string
	parts parts
}

func (containerdSeed) component() string      { return "seed" }
func (containerdSeed) usually() time.Duration { return 15 * time.Second }
func (containerdSeed) inputs() []string       { return []string{seedFormat, seedConfig} }

func (s containerdSeed) version() string {
	return fmt.Sprintf("%s-containerd-%s", s.parts.release.Kubernetes, s.kind)
}

func (s containerdSeed) needs() []recipe {
	needs := []recipe{s.parts.debian, s.parts.images}
	if s.kind == ContainerdBuilt {
		needs = append(needs, s.parts.containerd)
	}
	return needs
}

func (s containerdSeed) build(ctx context.Context, shop *workshop, dir string) error {
	store, tools := filepath.Join(dir, "containerd"), filepath.Join(dir, "tools")
	if err := os.Mkdir(store, 0o711); err != nil {
		return fmt.Errorf("making directory: %w", err)
	}
	if err := s.gatherTools(ctx, shop, tools); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(tools, "config.toml"), seedConfig, 0o644); err != nil {
		return err
	}
	daemon, err := startSeeder(ctx, shop, filepath.Join(shop.of(s.parts.debian), "root"), []string{
		"--bind=" + store + ":/var/lib/containerd",
		"--bind-ro=" + tools + ":/usr/local/bin",
		"--bind-ro=" + shop.of(s.parts.images) + ":/mnt",
	})
	if err != nil {
		return err
	}
	if err := s.importImages(ctx, daemon); err != nil {
		daemon.abandon()
		return err
	}
	if err := daemon.stop(ctx); err != nil {
		return err
	}
	// Empty directories of running work; the rest is content, snapshots and databases.
	return errors.Join(os.RemoveAll(tools), os.RemoveAll(filepath.Join(store, "tmpmounts")))
}

// gatherTools puts containerd and ctr of the wanted kind into one directory.
func (s containerdSeed) gatherTools(ctx context.Context, shop *workshop, tools string) error {
	bin := filepath.Join(shop.of(s.parts.containerd), "bin")
	if s.kind == ContainerdDebian {
		found, err := filepath.Glob(filepath.Join(shop.of(s.parts.debian), "debs", "containerd_*.deb"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("want one containerd package of Debian, found %v", found)
		}
		unpacked := tools + ".unpacked"
		if err := shop.run(ctx, command{argv: []string{"dpkg-deb", "--extract", found[0], unpacked}}); err != nil {
			return err
		}
		defer os.RemoveAll(unpacked)
		bin = filepath.Join(unpacked, "usr/bin")
	}
	return copyPrograms(bin, tools, "containerd", "ctr")
}

// importImages imports and unpacks each archive into the namespace of the kubelet.
func (s containerdSeed) importImages(ctx context.Context, daemon *seeder) error {
	for _, archive := range s.parts.images.archives("/mnt") {
		if err := daemon.ctr(ctx, "--namespace", "k8s.io", "images", "import", archive); err != nil {
			return fmt.Errorf("importing %s: %w", filepath.Base(archive), err)
		}
	}
	return nil
}
