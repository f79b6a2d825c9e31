//go:build e2e

package upgrade

import (
	"slices"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestUpgradeClocks upgrades a cluster whose hosts have a clock that is 10 minutes ahead, from a
// machine whose clock is right. A machine with a wrong clock must not start the upgrade.
func TestUpgradeClocks(t *testing.T) {
	const ahead = 10 * time.Minute
	s := &site{&bed.Site{Bed: bed.New(t, cluster.Spec{Name: "upclock", Workers: 2, Kubernetes: older}), Standalone: true}}
	s.Agent = bed.BuildAhead(t, "refit-agent", ahead)
	s.Prepare(t)
	s.Install(t)
	s.deployShop(t)
	r := s.CreateRelease(t, newer)
	hosts := append(slices.Clone(waiveBare), "--waive", "ClockSkewed=the hosts have no time server yet")

	t.Run("check reports each host", func(t *testing.T) {
		text := s.Refused(t, exitBlocked, "check", "--to", newer)
		for _, n := range s.Nodes() {
			must(t, mentions(text, "the clock of "+n.Name()+" is "))
		}
	})
	t.Run("a machine whose clock is ahead starts no upgrade", func(t *testing.T) {
		machine := *s.Bed
		wrong := &bed.Site{Bed: &machine, Standalone: true}
		wrong.Refit = bed.BuildAhead(t, "refit", ahead)
		text := wrong.Refused(t, exitBlocked, append([]string{"upgrade", "--to", newer, "--yes", "--standalone"}, hosts...)...)
		must(t, mentions(text, "LocalClockSkewed"))
		s.untouched(t, s.Nodes()...)
	})
	t.Run("an agent that stops is found, and the upgrade ends", func(t *testing.T) {
		last := s.OfRole(cluster.RoleWorker)[1]
		up := s.Upgrade(t, newer, hosts...)
		s.AwaitApplying(t, s.First(cluster.RoleControlPlane))
		_, err := last.Exec(t.Context(), "systemctl", "stop", bed.AgentUnit)
		must(t, err)
		s.operation("to-v1-36-3").waits(t, "the agent to be missed", whole, func(u *refitv1alpha1.ClusterUpgrade) bool {
			return slices.ContainsFunc(u.Status.Waiting, func(w refitv1alpha1.WaitingFor) bool { return w.Node == last.Name() && w.ActionRequired })
		})
		_, err = last.Exec(t.Context(), "systemctl", "start", bed.AgentUnit)
		must(t, err)
		up.Wait(t, whole, exitDone)
	})
	s.isAt(t, r)
}
