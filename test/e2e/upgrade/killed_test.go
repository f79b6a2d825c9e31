//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// killsVariable sets the number of kills in one upgrade.
const killsVariable = "REFIT_UPGRADE_KILLS"

// TestUpgradeKilled kills the controllers repeatedly while they upgrade a cluster, and freezes the
// leader until another one takes over. The controllers keep no state in memory, so the upgrade ends
// as an undisturbed one does, and no invariant is violated.
func TestUpgradeKilled(t *testing.T) {
	t.Run("in the cluster", killedInCluster)
	t.Run("standalone", killedStandalone)
}

func killedInCluster(t *testing.T) {
	wanted := bed.Count(t, killsVariable, 50)
	s := newSite(t, cluster.Spec{Name: "upkill", ControlPlanes: 3, Workers: 2, Kubernetes: older}, inCluster)
	r := s.CreateRelease(t, newer)
	monitor := s.monitor(t)
	o := s.ask(t, "killed", func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		// The soak leaves time for all kills: the upgrade would finish earlier without it.
		spec.Pools = []refitv1alpha1.Pool{{Name: "default", Canary: &refitv1alpha1.Canary{Nodes: 1, Soak: metav1.Duration{Duration: 10 * time.Minute}}}}
	})
	o.waits(t, "a node to be at work", whole, atWork)
	s.freezeLeader(t, o)
	// A new leader waits until the Lease of its dead predecessor expires, which takes 15 s.
	killing := s.kills(t, wanted, 25*time.Second)
	o.reaches(t, refitv1alpha1.PhaseSucceeded)
	kills := killing.count()
	show(t, "upgrade_killed", time.Since(o.begun).Seconds(), "s")
	show(t, "upgrade_kills", float64(kills), "kills")
	if kills < wanted {
		t.Errorf("there were %d kills, want %d", kills, wanted)
	}
	monitor.stop(t)
	s.isAt(t, r)
}

func atWork(u *refitv1alpha1.ClusterUpgrade) bool { return len(u.Status.Active) > 0 }

// freezeLeader freezes the leader until another controller leads and acts, then resumes it. Its
// stale writes must not take effect, which the monitor verifies.
func (s *site) freezeLeader(t *testing.T, o *operation) {
	t.Helper()
	var leader process
	must(t, until(t.Context(), "a leader", checkTimeout, func(ctx context.Context) (err error) {
		leader, err = s.leader(ctx)
		return err
	}))
	before := o.waits(t, "the operation", checkTimeout, func(*refitv1alpha1.ClusterUpgrade) bool { return true }).Status.Epoch
	must(t, leader.signal(t.Context(), "STOP"))
	t.Logf("%s leads, and is frozen", leader.pod)
	o.waits(t, "another leader to raise the epoch", checkTimeout, func(u *refitv1alpha1.ClusterUpgrade) bool { return u.Status.Epoch > before })
	must(t, leader.signal(t.Context(), "CONT"))
	must(t, until(t.Context(), "the Lease to be another's", checkTimeout, func(ctx context.Context) error {
		now, err := s.leader(ctx)
		if err == nil && now == leader {
			return errors.New("the one that was frozen leads")
		}
		return err
	}))
}

// killedStandalone kills the command itself, then interrupts it with Ctrl-C, and runs it again each
// time: it must resume.
func killedStandalone(t *testing.T) {
	const wanted = 5
	s := newSite(t, cluster.Spec{Name: "upkill", Workers: 2, Kubernetes: older}, standalone)
	r := s.CreateRelease(t, newer)
	monitor := s.monitor(t)
	begun := time.Now()
	kills := 0
	for tries := 0; kills < wanted && tries < 4*wanted; tries++ {
		up := s.Upgrade(t, newer, waiveBare...)
		// A random time for the kill. The predecessor's Lease lasts 15 s.
		ended := up.Lasts(20*time.Second + rand.N(20*time.Second))
		if ended && up.Cmd.ProcessState.Success() {
			break
		}
		if !ended { // otherwise the only API server was unavailable when the command started
			up.Kill(t)
			kills++
		}
	}
	left := s.Upgrade(t, newer, waiveBare...)
	if ended := left.Lasts(25 * time.Second); !ended {
		left.Interrupt(t)
		left.Wait(t, checkTimeout, exitInterrupted)
		must(t, mentions(left.Output.String(), "--standalone")) // the command to resume with
	}
	s.Upgrade(t, newer, waiveBare...).Wait(t, whole, exitDone)
	show(t, "upgrade_killed_standalone", time.Since(begun).Seconds(), "s")
	show(t, "upgrade_kills_standalone", float64(kills), "kills")
	monitor.stop(t)
	s.isAt(t, r)
}
