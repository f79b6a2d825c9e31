package builder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// seedFormat is incremented when the way the store is filled changes.
const seedFormat = "1"

// seedTimeout is the timeout for containerd to respond, and to stop.
const seedTimeout = 30 * time.Second

// seedConfig is sufficient to import images: the CRI plugin is disabled.
const seedConfig = "version = 2\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n"

// containerdSeed is the recipe of a /var/lib/containerd, in containerd/, with all images of a
// release, unpacked. It is filled by the node's version of containerd, because the layout of the
// database depends on it.
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
		return fmt.Errorf("creating directory: %w", err)
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
	// Empty directories of running containers; the rest is content, snapshots and databases.
	return errors.Join(os.RemoveAll(tools), os.RemoveAll(filepath.Join(store, "tmpmounts")))
}

// gatherTools copies containerd and ctr of the selected kind into one directory.
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
	return copyBinaries(bin, tools, "containerd", "ctr")
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
