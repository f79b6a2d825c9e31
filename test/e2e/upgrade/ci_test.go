//go:build e2e

package upgrade

import (
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestUpgradeCI is the gate for every change: Refit is installed, upgrades a small cluster with a
// workload while its controllers are killed, and is uninstalled without leftovers.
func TestUpgradeCI(t *testing.T) {
	begun := time.Now()
	s := newSite(t, cluster.Spec{Name: "upci", Workers: 2, Kubernetes: older}, inCluster)
	r := s.CreateRelease(t, newer)
	t.Logf("cluster, Refit and ClusterRelease after %.0f s", time.Since(begun).Seconds())

	monitor := s.monitor(t)
	killing := s.kills(t, 5, 30*time.Second)
	up := s.upgrade(t, newer, waiveBare...)
	up.wait(t, whole, exitDone)
	show(t, "upgrade_ci_upgrade", time.Since(up.begun).Seconds(), "s")
	show(t, "upgrade_ci_kills", float64(killing.count()), "kills")
	monitor.stop(t)

	s.isAt(t, r)
	s.uninstall(t)
	show(t, "upgrade_ci", time.Since(begun).Seconds(), "s")
}
