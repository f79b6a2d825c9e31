package plan

import (
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// needsDrain reports whether a node is drained before its upgrade: for another minor version, since
// Kubernetes does not support a kubelet's minor upgrade under running pods; for another major
// version of containerd or runc, which may not manage the containers of the former one; or if its
// pool requires it. The pods of a single node have nowhere to go.
func needsDrain(s *cluster.Snapshot, spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node, hop *Hop) bool {
	if len(s.Nodes) == 1 {
		return false
	}
	from := kubeletVersion(n)
	to, err := skew.Parse(hop.Kubernetes)
	if err != nil { // a hop without a ClusterRelease has no patch version and is a minor upgrade
		return true
	}
	return from.IsZero() || !from.SameMinor(to) || policy.DrainOf(spec, n).When == refitv1alpha1.DrainAllReleases ||
		runtimeChangesMajor(s, n, hop.Release)
}

// needsDrain reports whether a node is drained in a hop.
func (v *view) needsDrain(n *cluster.Node, hop int) bool {
	return needsDrain(v.s, v.spec, n, &v.plan.Hops[hop])
}

// runtimeChangesMajor reports whether a ClusterRelease replaces containerd or runc by another major
// version.
func runtimeChangesMajor(s *cluster.Snapshot, n *cluster.Node, release *refitv1alpha1.ReleaseRef) bool {
	if release == nil {
		return false
	}
	containerd, runc := strings.TrimPrefix(n.Runtime, "containerd://"), ""
	if n.Report != nil {
		runc = n.Report.Versions.Runc
		if installed := n.Report.Versions.Containerd; installed != "" {
			containerd = installed
		}
	}
	for i := range s.Releases {
		if r := &s.Releases[i]; r.Name == release.Name {
			return changesMajor(containerd, r.Payload.Containerd) || changesMajor(runc, r.Payload.Runc)
		}
	}
	return false
}

// changesMajor compares two versions, of which either may be unknown.
func changesMajor(from, to string) bool {
	major := func(version string) string {
		out, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
		return out
	}
	return from != "" && to != "" && major(from) != major(to)
}
