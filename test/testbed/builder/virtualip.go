package builder

import (
	"context"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// Keepalived returns the packages of Debian's keepalived that nodes lack, and downloads missing
// ones.
func (b *Builder) Keepalived(ctx context.Context) ([]string, error) {
	packages := keepalived{debian: debian{}}
	if err := b.ensure(ctx, packages); err != nil {
		return nil, err
	}
	return debsOf(b.cache, []recipe{packages})
}

// KubeVIP returns the archive of the image of kube-vip, and builds it if it is missing.
func (b *Builder) KubeVIP(ctx context.Context) (string, error) {
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return "", err
	}
	image := kubeVIPImage{binaries: kubeVIP(toolchain)}
	if err := b.ensure(ctx, image); err != nil {
		return "", err
	}
	return filepath.Join(b.cache.entry(image), archiveName(versions.KubeVIPImage)), nil
}

// keepalived downloads Debian's package, and the packages that it needs and the root of the nodes
// does not have, to debs/. As with that root, the versions on the mirror are not part of the key.
type keepalived struct{ debian recipe }

func (keepalived) component() string      { return "keepalived" }
func (keepalived) version() string        { return versions.Debian }
func (keepalived) inputs() []string       { return nil }
func (keepalived) usually() time.Duration { return 10 * time.Second }
func (k keepalived) needs() []recipe      { return []recipe{k.debian} }

func (k keepalived) build(ctx context.Context, shop *workshop, dir string) error {
	return downloadDebs(ctx, shop, k.debian, dir, "keepalived")
}

func kubeVIP(toolchain string) recipe {
	return goBinaries{
		name: "kube-vip", release: versions.KubeVIP, toolchain: toolchain,
		modules:  []goModule{{Path: "github.com/kube-vip/kube-vip", Version: versions.KubeVIP}},
		commands: []goCommand{{pkg: "github.com/kube-vip/kube-vip"}},
		ldflags:  goStrip, takes: 3 * time.Minute,
	}
}

// kubeVIPImage is the image of kube-vip. It belongs to no Kubernetes release.
type kubeVIPImage struct{ binaries recipe }

func (kubeVIPImage) component() string { return "kube-vip-image" }
func (kubeVIPImage) version() string   { return versions.KubeVIP }
func (kubeVIPImage) inputs() []string {
	return []string{imagesFormat, imagePath, versions.KubeVIPImage}
}
func (kubeVIPImage) usually() time.Duration { return time.Second }
func (i kubeVIPImage) needs() []recipe      { return []recipe{i.binaries} }

func (i kubeVIPImage) build(_ context.Context, shop *workshop, dir string) error {
	image := binaryImage(versions.KubeVIPImage, filepath.Join(shop.of(i.binaries), "bin"), "kube-vip")
	return image.write(filepath.Join(dir, archiveName(image.name)))
}
