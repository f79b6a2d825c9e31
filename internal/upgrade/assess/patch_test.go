package assess

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// unusable is a ClusterRelease whose signature no host accepts.
func unusable(version string) clustertest.Change {
	return func(s *cluster.Snapshot) {
		s.Releases = append(s.Releases, cluster.Release{
			Name: "unusable", Payload: refitv1alpha1.ReleasePayload{Kubernetes: version}, Error: "the signature is not valid",
		})
	}
}

func TestNewestPatch(t *testing.T) {
	for situation, c := range map[string]struct {
		from     string
		releases clustertest.Change
		scope    refitv1alpha1.Scope
		minor    string
		want     string // the version, or a part of the error
		refuses  []string
	}{
		"the newest patch release": {"v1.35.4", clustertest.Released("v1.36.9", "v1.36.10", "v1.37.1"), "", "1.36", "v1.36.10", nil},
		"an unusable one does not count": {
			"v1.35.4", unusable("v1.36.11"), "", "1.36", "use a version such as v1.36.3", []string{"v1.36.11"},
		},
		"only other minor versions": {
			"v1.35.4", clustertest.Released("v1.36.9", "v1.36.10"), "", "1.37",
			"use a version such as v1.37.1, or one that it has a ClusterRelease of: v1.36.9, v1.36.10", nil,
		},
		"the minor version that runs": {
			"v1.35.2", clustertest.Released("v1.35.1", "v1.36.9"), "", "1.35", "such as v1.35.4, or one that it has a ClusterRelease of: v1.36.9", []string{"v1.35.1"},
		},
		"the control plane is newer than known": {"v1.35.7", clustertest.Released(), "", "1.35", "use a version such as v1.35.7", []string{"v1.35.4"}},
		"only older patch releases":             {"v1.36.5", clustertest.Released("v1.36.3"), "", "1.36", "use a version such as v1.36.5", []string{"v1.36.3"}},
		"a downgrade":                           {"v1.36.3", clustertest.Released("v1.35.1"), "", "1.35", "does not support a downgrade", []string{"v1.35.1", "use a version"}},
		"a version that Refit does not support": {
			"v1.36.3", clustertest.Released(), "", "1.38", "this version of Refit supports Kubernetes", []string{"v1.38.1", "use a version"},
		},
		"workers of an older version": {"v1.36.3", clustertest.Released("v1.35.1"), refitv1alpha1.ScopeWorkers, "1.35", "v1.35.1", nil},
	} {
		t.Run(situation, func(t *testing.T) {
			s := clustertest.HA(c.from, 3, 1, c.releases)
			got, err := NewestPatch(c.minor, s, refitv1alpha1.ClusterUpgradeSpec{Scope: c.scope})
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("NewestPatch() = %s, want %q", got, c.want)
			}
			for _, version := range c.refuses {
				if strings.Contains(got, version) {
					t.Errorf("NewestPatch() = %s: it suggests %q, which the command refuses", got, version)
				}
			}
		})
	}
}
