package progress

import (
	"cmp"
	"slices"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// NewReleases lists ClusterReleases, the newest version of Kubernetes first, and the operations in
// progress that follow each.
func NewReleases(cluster string, listed []cliv1alpha1.ListedRelease, operations []refitv1alpha1.ClusterUpgrade) *cliv1alpha1.Releases {
	out := &cliv1alpha1.Releases{APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindReleases, Cluster: cluster, Releases: []cliv1alpha1.ListedRelease{}}
	for _, r := range listed {
		r.Operations = nil
		for i := range operations {
			if u := &operations[i]; r.Digest != "" && !u.HasEnded() && follows(u, r.Name) {
				r.Operations = append(r.Operations, u.Name)
			}
		}
		out.Releases = append(out.Releases, r)
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

// follows reports whether the path of an operation has a ClusterRelease.
func follows(u *refitv1alpha1.ClusterUpgrade, release string) bool {
	if u.Spec.Target.Release == release {
		return true
	}
	return u.Status.Plan != nil && slices.ContainsFunc(u.Status.Plan.Hops, func(h refitv1alpha1.Hop) bool { return h.Release.Name == release })
}
