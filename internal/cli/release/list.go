package release

import (
	"cmp"
	"slices"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// NewList lists the ClusterReleases of a cluster, the newest version of Kubernetes first, and the
// operations in progress that follow each.
func NewList(cluster string, all []refitv1alpha1.ClusterRelease, operations []refitv1alpha1.ClusterUpgrade) *cliv1alpha1.Releases {
	out := &cliv1alpha1.Releases{APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindReleases, Cluster: cluster, Releases: []cliv1alpha1.ListedRelease{}}
	for i := range all {
		out.Releases = append(out.Releases, listed(&all[i], operations))
	}
	slices.SortFunc(out.Releases, func(a, b cliv1alpha1.ListedRelease) int {
		return cmp.Or(compareVersions(b.Kubernetes, a.Kubernetes), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func compareVersions(a, b string) int {
	x, errX := skew.Parse(a)
	y, errY := skew.Parse(b)
	switch {
	case errX != nil || errY != nil:
		return cmp.Compare(a, b)
	case x.Before(y):
		return -1
	case y.Before(x):
		return 1
	}
	return 0
}

func listed(r *refitv1alpha1.ClusterRelease, operations []refitv1alpha1.ClusterUpgrade) cliv1alpha1.ListedRelease {
	out := cliv1alpha1.ListedRelease{
		Name: r.Name, Kubernetes: r.Spec.Kubernetes, CreateTime: r.CreationTimestamp.UTC(),
		VerifiedHosts: int(r.Status.VerifiedHosts), RejectedHosts: int(r.Status.RejectedHosts),
	}
	content, err := artifact.Unverified(r.Spec.Envelope)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	out.Digest, out.KeyID = content.Digest, content.KeyID
	if len(r.Spec.Components) > 0 {
		components, err := artifact.UnverifiedComponents(r.Spec.Components, content.Digest)
		if err != nil {
			out.Problem = "its components: " + err.Error()
		}
		for i := range components.List {
			out.Components = append(out.Components, cliv1alpha1.ListedComponent{Name: components.List[i].Name, Version: components.List[i].Version})
		}
	}
	for i := range operations {
		if u := &operations[i]; !u.HasEnded() && follows(u, r.Name) {
			out.Operations = append(out.Operations, u.Name)
		}
	}
	return out
}

// follows reports whether the path of an operation has a ClusterRelease.
func follows(u *refitv1alpha1.ClusterUpgrade, release string) bool {
	if u.Spec.Target.Release == release {
		return true
	}
	return u.Status.Plan != nil && slices.ContainsFunc(u.Status.Plan.Hops, func(h refitv1alpha1.Hop) bool { return h.Release.Name == release })
}
