//go:build e2e

package upgrade

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/e2e/upstream"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// wholeCI limits the time of the upgrade, which takes two to four minutes: an operation that waits
// for a person must be described before the limit of the whole run ends the test.
const wholeCI = 12 * time.Minute

// TestUpgradeCI is the gate for every change: Refit is installed, adds a ClusterRelease with
// content of mirrors of upstream and fields of the kubeadm configuration, one of which was edited
// by hand, backs up a small cluster with a workload, rehearses its upgrade and upgrades it while
// its controllers are killed, installs and upgrades a component, restores etcd from a backup, and
// is uninstalled without leftovers.
func TestUpgradeCI(t *testing.T) {
	begun := time.Now()
	s := newSite(t, cluster.Spec{Name: "upci", Workers: 2, Kubernetes: older}, inCluster)
	parts, err := s.Release(t.Context(), newer)
	must(t, err)
	host := s.Gateway().String()
	u := upstream.New(t, host, upstream.StartRegistry(t, host), parts)
	bed.OnNodes(t, s.Nodes(), u.UseRegistry)
	must(t, s.WaitReady(t.Context(), recovery))
	s.EditConfiguration(t)
	r := s.AddRelease(t, newer, append(u.Flags(), "--cluster-configuration", s.WriteConfiguration(t))...)
	t.Logf("cluster, Refit and ClusterRelease after %.0f s", time.Since(begun).Seconds())

	monitor := s.monitor(t)
	killing := s.kills(t, 5, 30*time.Second)
	up := s.Upgrade(t, newer, waiveBare...)
	up.Wait(t, wholeCI, exitDone)
	show(t, "upgrade_ci_upgrade", time.Since(up.Started).Seconds(), "s")
	show(t, "upgrade_ci_kills", float64(killing.count()), "kills")
	monitor.stop(t)

	s.isAt(t, r)
	s.Configured(t, true)
	s.ReliedOnABackup(t, "upgrade_ci", r)
	s.componentsCI(t)
	s.restoreCI(t)
	s.RunRefit(t, "uninstall", "--yes")
	s.NothingLeft(t)
	show(t, "upgrade_ci", time.Since(begun).Seconds(), "s")
}

// restoreCI takes a backup in the store that `refit install` created, corrupts etcd, and follows
// docs/runbooks/restore.md with the identity that `refit install` created.
func (s *site) restoreCI(t *testing.T) {
	t.Helper()
	begun := time.Now()
	name := s.create(t, "local")
	show(t, "backup_ci_backup", time.Since(begun).Seconds(), "s")
	cp := s.First(cluster.RoleControlPlane)
	identity, err := os.ReadFile(filepath.Join(filepath.Dir(s.Key.Public), "refit-backup.key"))
	must(t, err)
	must(t, bed.WriteOn(t.Context(), cp, backupIdentity, string(identity)))
	s.isRecorded(t, cp, name)
	containers := s.workloads(t)
	corruptEtcd(t, cp)
	s.followRunbook(t, []*cluster.Node{cp})
	must(t, s.WaitReady(t.Context(), recovery))
	must(t, until(t.Context(), "the shop to open", checkTimeout, s.shopOpen))
	if after := s.workloads(t); after != containers {
		t.Errorf("containers of workloads restarted:\n%s\nbefore:\n%s", after, containers)
	}
	show(t, "backup_ci", time.Since(begun).Seconds(), "s")
}
