package builder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// How Kubernetes gets onto a node.
const (
	InstallBinaries = "binaries" // programs and units put there by hand, in /usr/local
	InstallDeb      = "deb"      // packages, held, from the testbed's apt repository
)

// Which containerd a node has.
const (
	ContainerdDebian = "debian"                   // Debian's own package
	ContainerdBuilt  = versions.ContainerdRelease // the one that the testbed builds
)

// A NodeImageSpec says what a node is to be.
type NodeImageSpec struct {
	Kubernetes string // v1.35.4
	Install    string // InstallBinaries or InstallDeb
	Containerd string // ContainerdDebian or ContainerdBuilt
}

// A NodeImage is what a node is made from. Neither directory may be changed: copy
// Root or lay an overlay over it, and copy Containerd. In that, content and
// unpacked layers may be hard links, since nobody writes them again; the
// databases (*.db) are written in place and must be copies.
type NodeImage struct {
	Root       string // a whole root file system
	Containerd string // a /var/lib/containerd that holds the release's images, unpacked
	Release    versions.Release
}

// Validate says everything that is wrong with a spec.
func (s NodeImageSpec) Validate() error {
	_, err := versions.Lookup(s.Kubernetes)
	errs := []error{err}
	if s.Install != InstallBinaries && s.Install != InstallDeb {
		errs = append(errs, fmt.Errorf("install %q: want %s or %s", s.Install, InstallBinaries, InstallDeb))
	}
	if s.Containerd != ContainerdDebian && s.Containerd != ContainerdBuilt {
		errs = append(errs, fmt.Errorf("containerd %q: want %s or %s", s.Containerd, ContainerdDebian, ContainerdBuilt))
	}
	return errors.Join(errs...)
}

// NodeImage finds a node image, and builds what is missing of it.
func (b *Builder) NodeImage(ctx context.Context, spec NodeImageSpec) (NodeImage, error) {
	node, seed, err := b.nodeRecipes(ctx, spec)
	if err != nil {
		return NodeImage{}, err
	}
	if err := b.ensure(ctx, node, seed); err != nil {
		return NodeImage{}, err
	}
	return NodeImage{
		Root:       filepath.Join(b.cache.entry(node), "root"),
		Containerd: filepath.Join(b.cache.entry(seed), "containerd"),
		Release:    node.parts.release,
	}, nil
}

// nodeRecipes are the two recipes of a node image. The images' store depends on
// containerd only, so nodes that differ in how they were installed share it.
func (b *Builder) nodeRecipes(ctx context.Context, spec NodeImageSpec) (nodeRoot, containerdSeed, error) {
	if err := spec.Validate(); err != nil {
		return nodeRoot{}, containerdSeed{}, err
	}
	parts, err := b.parts(ctx, spec.Kubernetes)
	if err != nil {
		return nodeRoot{}, containerdSeed{}, err
	}
	return nodeRoot{spec: spec, parts: parts}, containerdSeed{kind: spec.Containerd, parts: parts}, nil
}

// containerdConfig is the node's /etc/containerd/config.toml.
func containerdConfig(kind string, release versions.Release) string {
	text := containerdConfigV3
	if kind == ContainerdDebian {
		text = containerdConfigV2
	}
	return strings.ReplaceAll(text, "{{pause}}", release.PauseImage())
}
