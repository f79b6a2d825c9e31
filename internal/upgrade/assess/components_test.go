package assess

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// offering adds a component to ClusterReleases of a Snapshot.
func offering(names ...string) clustertest.Change {
	return func(s *cluster.Snapshot) {
		for i := range s.Releases {
			for _, name := range names {
				if s.Releases[i].Name == name {
					s.Releases[i].Components = []refitv1alpha1.ReleaseComponent{{Name: "metrics-server", Version: "0.9.0"}}
				}
			}
		}
	}
}

func kubelet(node, version string) clustertest.Change {
	return func(s *cluster.Snapshot) {
		for i := range s.Nodes {
			if s.Nodes[i].Name == node {
				s.Nodes[i].Kubelet = version
			}
		}
	}
}

// another adds a ClusterRelease of the version of the first one.
func another(name string) clustertest.Change {
	return func(s *cluster.Snapshot) {
		release := s.Releases[0]
		release.Name = name
		s.Releases = append(s.Releases, release)
	}
}

func TestUpgradesOfComponentsAlone(t *testing.T) {
	released := clustertest.Released("v1.36.3", "v1.37.1")
	name := func() string {
		return clustertest.HA("v1.36.3", 3, 2, released).Releases[0].Name
	}()
	for situation, c := range map[string]struct {
		changes []clustertest.Change
		spec    refitv1alpha1.ClusterUpgradeSpec
		want    refitv1alpha1.Target
		err     string
	}{
		"no target": {[]clustertest.Change{released, offering(name)}, refitv1alpha1.ClusterUpgradeSpec{}, refitv1alpha1.Target{Kubernetes: "v1.36.3"}, ""},
		"the version that runs": {
			[]clustertest.Change{released, offering(name)},
			refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}},
			refitv1alpha1.Target{Kubernetes: "v1.36.3"},
			"",
		},
		"a ClusterRelease of it": {
			[]clustertest.Change{released, offering(name)},
			refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Release: name}},
			refitv1alpha1.Target{Release: name},
			"",
		},
		"a newer version": {
			[]clustertest.Change{released, offering(name)},
			refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.37.1"}},
			refitv1alpha1.Target{},
			"runs Kubernetes v1.36.3, and the target is v1.37.1",
		},
		"an older version": {
			[]clustertest.Change{released, offering(name)},
			refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.35.4"}},
			refitv1alpha1.Target{},
			"the target is v1.35.4",
		},
		"an unknown ClusterRelease": {
			[]clustertest.Change{released, offering(name)},
			refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Release: "nope"}},
			refitv1alpha1.Target{},
			"ClusterRelease nope not found",
		},
		"only workers": {
			[]clustertest.Change{released, offering(name)}, refitv1alpha1.ClusterUpgradeSpec{Scope: refitv1alpha1.ScopeWorkers}, refitv1alpha1.Target{}, "no node changes",
		},
		"a worker is behind": {
			[]clustertest.Change{released, offering(name), kubelet("worker-2", "v1.36.2")},
			refitv1alpha1.ClusterUpgradeSpec{},
			refitv1alpha1.Target{},
			"worker-2 runs another version",
		},
		"no ClusterRelease": {nil, refitv1alpha1.ClusterUpgradeSpec{}, refitv1alpha1.Target{}, "no ClusterRelease of Kubernetes v1.36.3"},
		"a ClusterRelease without components": {
			[]clustertest.Change{released}, refitv1alpha1.ClusterUpgradeSpec{}, refitv1alpha1.Target{}, "there is nothing to upgrade",
		},
		"the newest ClusterRelease has no components": {
			[]clustertest.Change{released, another("zzz"), offering(name)}, refitv1alpha1.ClusterUpgradeSpec{}, refitv1alpha1.Target{}, "with --release: " + name,
		},
	} {
		got, err := ComponentsOnly(clustertest.HA("v1.36.3", 3, 2, c.changes...), c.spec)
		if (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) || err == nil && got != c.want {
			t.Errorf("%s: %+v, %v", situation, got, err)
		}
	}
}
