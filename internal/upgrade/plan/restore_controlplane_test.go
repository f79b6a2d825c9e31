package plan

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// A restore of etcd loses the claim and the order of a host that failed partly changed.
func TestRestoreOfEtcdWhileAControlPlaneHostHasFailed(t *testing.T) {
	manual := spec(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Rollback = refitv1alpha1.RollbackManual })
	for name, s := range map[string]story{
		"in a later hop":           failedThenRestored("cp-2", prefetchedFor("cp-2", "kubernetes-v1.37.1"), minor(shape(3, 0), upgradePath("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1"), manual)),
		"after that of an earlier": failedThenRestored("cp-3", claimed("cp-2"), minor(shape(3, 0), upgradePath("v1.36.1", "v1.36.3", "v1.36.3"), manual)),
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run("")
			if r.op.end != Succeeded || len(r.violations) > 0 || r.op.Spec.Retry != 1 {
				t.Errorf("%s %q after %d retries: %v\n%s", r.last.State, r.last.Message, r.op.Spec.Retry, r.violations, r.narrative)
			}
		})
	}
}

// failedThenRestored fails the change of a host and then restores a backup of before it. The user
// retries once.
func failedThenRestored(node string, backedUp func(*storyRun) bool, sc scenario) story {
	var backup *observation
	failed := func(r *storyRun) bool { return backup != nil && r.last.State == Stalled }
	return story{name: "x", scenario: sc, ends: Succeeded, script: []scriptEvent{
		{backedUp, func(r *storyRun) { backup = r.observe() }},
		{func(r *storyRun) bool { return backup != nil && applying(node)(r) }, failsNextStep(node)},
		{failed, func(r *storyRun) {
			r.restoreEtcd(backup)
			r.leader = r.takeOver("Refit")
		}},
		{later(5, failed), func(r *storyRun) { r.retry() }},
	}}
}

func prefetchedFor(node, release string) func(*storyRun) bool {
	return func(r *storyRun) bool {
		u := r.machine(node).upgrade
		return u != nil && u.Spec.Release.Name == release && u.Status.Phase == refitv1alpha1.NodePrefetched
	}
}

// After a restore of etcd, hosts have accepted orders that the cluster has lost, one by one.
func TestOneRetryIsEnoughAfterARestoreOfEtcd(t *testing.T) {
	for _, backup := range []float64{1, 2, 4, 8} {
		for _, age := range []float64{2, 3, 7, 11} {
			s := restoredAt(minor(shape(3, 2)), backup, backup+age)
			if r := s.run(""); r.op.end != Succeeded || len(r.violations) > 0 || r.op.Spec.Retry > 1 {
				t.Errorf("a backup of minute %.0f, restored %.0f min later: %s %q after %d retries: %v",
					backup, age, r.last.State, r.last.Message, r.op.Spec.Retry, r.violations)
			}
		}
	}
}

// restoredAt takes and restores a backup at these minutes. The user retries each time that orders
// have been refused for a while.
func restoredAt(sc scenario, backedUp, restored float64) story {
	var backup *observation
	started := func(*storyRun) bool { return true }
	refusedFor := 0
	refused := func(r *storyRun) bool {
		if refusedFor++; r.last.State != Stalled || r.last.Waiting[0].Reason != refitv1alpha1.ReasonOrderRefused {
			refusedFor = 0
		}
		if refusedFor == 18 {
			r.retry()
		}
		return false
	}
	return story{name: "x", scenario: sc, script: []scriptEvent{
		{later(backedUp, started), func(r *storyRun) { backup = r.observe() }},
		{later(restored, started), func(r *storyRun) {
			r.restoreEtcd(backup)
			r.leader = r.takeOver("Refit")
		}},
		{refused, nil},
	}}
}
