package plan

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The host of an abandoned control plane node can come back and complete its change.
func TestAbandonedControlPlaneNodeThatIsStillChangedHoldsTheOthers(t *testing.T) {
	first := ""
	swapsKubelet := func(r *storyRun) bool {
		for _, m := range r.machines {
			if m.controlPlane && applying(m.name)(r) && m.agent.busy && m.agent.steps[0] == stepKubelet {
				first = m.name
				return true
			}
		}
		return false
	}
	otherActive := func(r *storyRun) bool {
		if first == "" || !r.changing(r.machine(first)) {
			return false
		}
		for _, name := range r.op.Active {
			if m := r.machine(name); m != nil && m.controlPlane && name != first {
				t.Errorf("%s is active while the agent of %s changes its host", name, first)
				return true
			}
		}
		return false
	}
	s := story{name: "x", scenario: minor(shape(3, 1)), script: []scriptEvent{
		{swapsKubelet, func(r *storyRun) {
			m := r.machine(first)
			m.agent.next, m.kubelet.down, m.apiServer.down, m.etcd.down = r.now.Add(2*time.Hour), false, false, false
			r.abandon(first)
		}},
		{func(r *storyRun) bool { return first != "" && r.last.State == AwaitingApproval }, (*storyRun).approve},
		{otherActive, func(*storyRun) {}},
	}}
	if r := s.run(""); first == "" || len(r.violations) > 0 {
		t.Errorf("%q was abandoned: %v", first, r.violations)
	}
}

// A host that rolls its API server back would leave a kubelet newer than an API server.
func TestAbandonedControlPlaneNodeThatIsStillChangedHoldsWorkers(t *testing.T) {
	abandoned := false
	comesBack := func(r *storyRun) {
		m := r.machine("cp-1")
		abandoned, m.agent.next = true, r.now.Add(2*time.Hour)
		m.kubelet.down, m.apiServer.down, m.etcd.down = false, false, false
		r.abandon("cp-1")
	}
	workerActive := func(r *storyRun) bool {
		active := abandoned && r.changing(r.machine("cp-1")) && slices.Contains(r.op.Active, "worker-1")
		if active {
			t.Error("worker-1 is active while the agent of cp-1 changes its host")
		}
		return active
	}
	external := func(sc *scenario) { sc.external = true }
	s := story{name: "x", scenario: minor(shape(2, 1), upgradePath("v1.36.1", "v1.36.3", "v1.36.3"), external), script: []scriptEvent{
		{applying("cp-1"), comesBack}, // the last one
		{func(r *storyRun) bool { return abandoned && r.last.State == AwaitingApproval }, (*storyRun).approve},
		{workerActive, func(*storyRun) {}},
	}}
	if r := s.run(""); !abandoned || len(r.violations) > 0 {
		t.Errorf("abandoned %t: %v", abandoned, r.violations)
	}
}

// An abandoned host that comes back stays cordoned, and nothing would ever free its slot.
func TestAbandonedWorkerThatComesBackUsesNoSlot(t *testing.T) {
	s := story{name: "x", scenario: minor(shape(1, 3)), ends: Succeeded, script: []scriptEvent{
		{applying("worker-1"), goesDown("worker-1")},
		{later(15, applying("worker-1")), func(r *storyRun) { r.abandon("worker-1"); comesUp("worker-1")(r) }},
	}}
	if r := s.run(""); r.op.end != Succeeded || len(r.violations) > 0 {
		t.Errorf("%s %q: %v", r.last.State, r.last.Message, r.violations)
	}
}

func TestAbortOfANodeThatRefusesEveryOrderIsReported(t *testing.T) {
	written, last := 0, int64(0)
	refuse := func(r *storyRun) bool {
		m := r.machine("worker-1")
		if m.upgrade == nil || m.upgrade.Spec.Permit != refitv1alpha1.PermitApply && m.upgrade.Spec.Permit != refitv1alpha1.PermitRollback {
			return false
		}
		if m.upgrade.Spec.Sequence != last {
			last = m.upgrade.Spec.Sequence
			written++
			m.upgradeVersion++
		}
		m.agent.stopped = true
		meta.SetStatusCondition(&m.upgrade.Status.Conditions, metav1.Condition{
			Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: "FormatUnknown", Message: "upgrade the agent",
			ObservedGeneration: m.upgrade.Generation, LastTransitionTime: metav1.NewTime(r.now),
		})
		return false
	}
	s := story{name: "x", scenario: minor(shape(1, 2)), script: []scriptEvent{
		{refuse, func(*storyRun) {}},
		{is(Stalled), func(r *storyRun) { r.abort() }},
	}}
	if r := s.run(""); r.last.State != Stalled || written > 3 {
		t.Errorf("it ends as %s %q, and %d orders were written", r.last.State, r.last.Message, written)
	}
}

// The plan does not contain an abandoned node any more, but its claim lasts until it is released.
func TestAbandonedControlPlaneNodeHoldsWorkersUntilItIsReleased(t *testing.T) {
	done := func(r *storyRun) bool {
		m := r.machine("cp-1")
		return slices.Contains(r.op.Active, "cp-1") && m.upgrade != nil && m.upgrade.Status.Phase == refitv1alpha1.NodeSucceeded
	}
	s := story{name: "x", scenario: minor(shape(1, 1)), script: []scriptEvent{
		{done, func(r *storyRun) {
			r.setAgent(r.machine("cp-1"), false)
			r.abandon("cp-1")
			r.approve()
		}},
		{func(r *storyRun) bool { return r.last.State == AwaitingApproval }, (*storyRun).approve},
	}}
	if r := s.run(""); len(r.violations) > 0 {
		t.Error(r.violations)
	}
}
