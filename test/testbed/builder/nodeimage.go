package builder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// How Kubernetes is installed on a node.
const (
	InstallBinaries = "binaries" // binaries and units in /usr/local
	InstallDeb      = "deb"      // packages on hold, from the testbed's apt repository
	InstallRpm      = "rpm"      // packages locked with dnf, without dpkg on the node
)

// installs are all of them.
var installs = []string{InstallBinaries, InstallDeb, InstallRpm}

// The containerd of a node.
const (
	ContainerdDebian = "debian"                   // Debian's package
	ContainerdBuilt  = versions.ContainerdRelease // built by the testbed
)

// A NodeImageSpec describes a node image.
type NodeImageSpec struct {
	Kubernetes string // v1.35.4
	Install    string // InstallBinaries, InstallDeb or InstallRpm
	Containerd string // ContainerdDebian or ContainerdBuilt
}

// A NodeImage is the base of a node. Neither directory may be modified: copy Root or mount an
// overlay over it, and copy Containerd. In the copy, content and unpacked layers may be hard links,
// because they are never written again; the databases (*.db) must be copies.
type NodeImage struct {
	Root       string // a complete root file system
	Containerd string // a /var/lib/containerd with the images of the release, unpacked
	Release    versions.Release
}

// Validate returns all errors of the spec.
func (s NodeImageSpec) Validate() error {
	_, err := versions.Lookup(s.Kubernetes)
	errs := []error{err}
	if !slices.Contains(installs, s.Install) {
		errs = append(errs, fmt.Errorf("install %q: want %s", s.Install, strings.Join(installs, ", ")))
	}
	if s.Containerd != ContainerdDebian && s.Containerd != ContainerdBuilt {
		errs = append(errs, fmt.Errorf("containerd %q: want %s or %s", s.Containerd, ContainerdDebian, ContainerdBuilt))
	}
	return errors.Join(errs...)
}

// NodeImage returns a node image, and builds missing parts.
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

// nodeRecipes returns the two recipes of a node image. The image store depends only on containerd,
// so nodes with different installation methods share it.
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

// containerdConfig returns the node's /etc/containerd/config.toml.
func containerdConfig(kind string, release versions.Release) string {
	text := containerdConfigV3
	if kind == ContainerdDebian {
		text = containerdConfigV2
	}
	return strings.ReplaceAll(text, "{{pause}}", release.PauseImage())
}
