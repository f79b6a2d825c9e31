package release

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact/create"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// kindNames are the kinds of hosts, as users write them.
var kindNames = []struct {
	name string
	kind refitv1alpha1.PackageKind
}{
	{"binary", refitv1alpha1.PackageBinary},
	{"deb", refitv1alpha1.PackageDeb},
	{"rpm", refitv1alpha1.PackageRpm},
}

// sameRepository compares repositories of images. The default has no name.
func sameRepository(a, b string) bool {
	return cmp.Or(a, create.Repository) == cmp.Or(b, create.Repository)
}

// KindNames are the values of --kind.
func KindNames() (out []string) {
	for _, k := range kindNames {
		out = append(out, k.name)
	}
	return out
}

func (c *Creation) parseKinds() error {
	for _, name := range c.Kinds {
		at := slices.Index(KindNames(), name)
		if at < 0 {
			return exit.Usagef("--kind: %q is not one of %s", name, strings.Join(KindNames(), ", "))
		}
		if kind := kindNames[at].kind; !slices.Contains(c.Servers.Kinds, kind) {
			c.Servers.Kinds = append(c.Servers.Kinds, kind)
		}
	}
	return nil
}

// For selects the kinds and platforms of the hosts of a cluster, as their agents report them, and
// the repository of its images, unless the user named another one.
func (c *Creation) For(s *cluster.Snapshot) error {
	c.Servers.Kinds, c.Servers.Archs, c.Servers.Hosts = nil, nil, nil
	c.Servers.PartKinds, c.Servers.Plugins = map[refitv1alpha1.Part][]refitv1alpha1.PackageKind{}, nil
	for _, part := range node.Parts() {
		c.Servers.PartKinds[part] = nil // until a host has it
	}
	var unknown []string
	allPlugins := false // an older agent does not list them
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.OS == "windows" {
			continue
		}
		if n.Report == nil || n.Report.PackageKind == "" {
			unknown = append(unknown, n.Name)
			continue
		}
		if kind := n.Report.PackageKind; !slices.Contains(c.Servers.Kinds, kind) {
			c.Servers.Kinds = append(c.Servers.Kinds, kind)
		}
		h := create.Host{Name: n.Name, Arch: cmp.Or(n.Report.Arch, n.Arch), Parts: node.ReportedParts(n.Report)}
		c.Servers.Hosts = append(c.Servers.Hosts, h)
		for _, part := range []refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet} { // a missing one is installed
			c.addKind(part, n.Report.PackageKind)
		}
		allPlugins = !c.addParts(h.Parts) || allPlugins
		if !slices.Contains(c.Servers.Archs, h.Arch) {
			c.Servers.Archs = append(c.Servers.Archs, h.Arch)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("cannot select the files for %d of %d nodes, such as %s: no agent reports how Kubernetes is installed there. "+
			"Install the agents with refit install, or select the files with --kind and --arch", len(unknown), len(s.Nodes), unknown[0])
	}
	if allPlugins {
		c.Servers.Plugins = nil
	}
	slices.Sort(c.Servers.Kinds)
	slices.Sort(c.Servers.Archs)
	if s.Kubeadm != nil && !c.repositoryGiven && !sameRepository(s.Kubeadm.ImageRepository, c.Servers.Repository) {
		c.Servers.Repository, c.Servers.Mirror = s.Kubeadm.ImageRepository, "" // the mirror is of the other one
	}
	return nil
}

func (c *Creation) addKind(part refitv1alpha1.Part, kind refitv1alpha1.PackageKind) {
	if kinds := c.Servers.PartKinds[part]; !slices.Contains(kinds, kind) {
		c.Servers.PartKinds[part] = append(kinds, kind)
	}
}

// addParts adds how the parts are installed on a host. It reports whether the
// CNI plugins of the host are known.
func (c *Creation) addParts(parts []refitv1alpha1.PartFacts) (known bool) {
	known = true
	for _, part := range parts {
		c.addKind(part.Part, part.Kind)
		if part.Part != refitv1alpha1.PartCNI || part.Kind != refitv1alpha1.PackageBinary {
			continue
		}
		known = len(part.Files) > 0
		for _, name := range part.Files {
			if !slices.Contains(c.Servers.Plugins, name) {
				c.Servers.Plugins = append(c.Servers.Plugins, name)
			}
		}
	}
	return known
}
