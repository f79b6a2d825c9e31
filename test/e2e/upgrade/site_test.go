//go:build e2e

package upgrade

import (
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// site is a cluster with a workload, and with Refit installed by `refit install`.
type site struct{ *bed.Site }

// inCluster and standalone are the two ways to run the controllers.
const (
	inCluster  = false
	standalone = true
)

// newSite creates a cluster, imports the images as without a registry, installs Refit, and runs the
// workload.
func newSite(t *testing.T, spec cluster.Spec, alone bool) *site {
	t.Helper()
	s := newBareSite(t, spec, alone)
	begun := time.Now()
	s.Install(t)
	t.Logf("refit install took %.1f s", time.Since(begun).Seconds())
	s.deployShop(t)
	return s
}

// newBareSite creates a cluster that has the images, but neither Refit nor a workload.
func newBareSite(t *testing.T, spec cluster.Spec, alone bool) *site {
	t.Helper()
	return &site{bed.NewSite(t, spec, alone)}
}
