package policy

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// ReleaseFor is the ClusterRelease that a hop to a version installs, nil if the cluster has none:
// the recorded one of a started operation, the one that the spec names, or the newest of the hop's
// minor version; of several of one version, that whose name is the last one. The last hop installs
// exactly the target version. Workers that catch up with a control plane at version from do not
// stay below its patch version.
func ReleaseFor(s *cluster.Snapshot, spec *refitv1alpha1.ClusterUpgradeSpec, version, from skew.Version, last bool) *cluster.Release {
	if r := recorded(s, version); r != nil {
		return r
	}
	var newest *cluster.Release
	var newestVersion skew.Version
	for i := range s.Releases {
		candidate := &s.Releases[i]
		v, err := skew.Parse(candidate.Payload.Kubernetes)
		switch {
		case err != nil || candidate.Error != "" || !v.SameMinor(version):
			continue
		case last && (v != version || (spec.Target.Release != "" && candidate.Name != spec.Target.Release)):
			continue
		case version == from && v.Before(version):
			continue
		}
		if newest == nil || newestVersion.Before(v) || (newestVersion == v && CompareNames(newest.Name, candidate.Name) < 0) {
			newest, newestVersion = candidate, v
		}
	}
	return newest
}

// recorded is the ClusterRelease of the operation's plan. A newer one that was created since is not
// for this operation.
func recorded(s *cluster.Snapshot, version skew.Version) *cluster.Release {
	if s.Operation == nil || s.Operation.Plan == nil {
		return nil
	}
	for _, hop := range s.Operation.Plan.Hops {
		v, err := skew.Parse(hop.Kubernetes)
		if err != nil || !v.SameMinor(version) || hop.Release.Name == "" {
			continue
		}
		for i := range s.Releases {
			if r := &s.Releases[i]; r.Name == hop.Release.Name && r.Digest == hop.Release.Digest {
				return r
			}
		}
	}
	return nil
}

// ComponentReleases returns the ClusterReleases whose components an upgrade changes, one for each
// hop; a hop without one has nil. It returns none if the user upgrades the components themselves.
func ComponentReleases(s *cluster.Snapshot, spec *refitv1alpha1.ClusterUpgradeSpec, path skew.Path) []*cluster.Release {
	if WaivedAnywhere(spec, CheckComponentsMissing) {
		return nil
	}
	releases := make([]*cluster.Release, len(path.Hops))
	for i, version := range path.Hops {
		releases[i] = ReleaseFor(s, spec, version, path.From, i == len(path.Hops)-1)
	}
	return releases
}
