//go:build e2e

package upgrade

import (
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// trio is a cluster of one control plane node and two workers, upgraded from the older version to
// the newer one.
type trio struct {
	*site
	r                         *bed.Release
	controlPlane, first, last *cluster.Node
}

// chapter is one event in the cluster's life. It starts from the state at the end of the previous
// one.
type chapter struct {
	name    string
	happens func(scene)
}

// scene is the context in which a chapter runs.
type scene struct {
	t *testing.T
	*trio
}

// play runs the chapters until one fails.
func play(t *testing.T, c *trio, chapters []chapter) {
	t.Helper()
	for _, next := range chapters {
		if !t.Run(next.name, func(t *testing.T) { next.happens(scene{t, c}) }) {
			t.Fatal("what follows needs a cluster that is well")
		}
	}
}

// newTrio creates a trio with Refit and a workload.
func newTrio(t *testing.T, name string) *trio {
	t.Helper()
	s := newSite(t, cluster.Spec{Name: name, Workers: 2, Kubernetes: older}, inCluster)
	workers := s.OfRole(cluster.RoleWorker)
	return &trio{site: s, r: s.CreateRelease(t, newer), controlPlane: s.First(cluster.RoleControlPlane), first: workers[0], last: workers[1]}
}
