package plan

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The number of the next order is that of one that the host has accepted and not reported yet, so
// its agent takes it for that one.
func TestOrderThatReplacesADeletedOneIsFollowed(t *testing.T) {
	held := func(r *storyRun) bool {
		u := r.machine("worker-1").upgrade
		return u != nil && u.Spec.Permit == refitv1alpha1.PermitHold && u.Status.Phase == refitv1alpha1.NodeIdle && u.Status.ObservedSequence == u.Spec.Sequence
	}
	s := story{name: "x", scenario: minor(shape(1, 2)), ends: Succeeded, script: []scriptEvent{
		{claimed("worker-1"), func(r *storyRun) { pauses(r.world) }},
		{held, func(r *storyRun) {
			m := r.machine("worker-1")
			m.upgrade = nil
			m.upgradeVersion++
			m.report.AcceptedSequence = m.agent.memory.Sequence - 1
			resumes(r.world)
		}},
	}}
	if r := s.run(""); r.op.end != Succeeded || len(r.violations) > 0 {
		t.Errorf("%s %q: %v", r.last.State, r.last.Message, r.violations)
	}
}

func TestOrderOfTheNextHopThatReplacesADeletedOneIsFollowed(t *testing.T) {
	catchesUp := minor(shape(1, 2), func(sc *scenario) {
		sc.version, sc.workersAt, sc.releases, sc.spec.Target.Kubernetes = "v1.36.3", "v1.33.9", []string{"v1.36.3", "v1.37.1"}, "v1.37.1"
	})
	s := story{name: "x", scenario: catchesUp, ends: Succeeded, script: []scriptEvent{
		{claimed("worker-2"), func(r *storyRun) {
			m := r.machine("worker-1")
			m.upgrade = nil
			m.upgradeVersion++
			m.report.AcceptedSequence = m.agent.memory.Sequence - 1
		}},
	}}
	if r := s.run(""); r.op.end != Succeeded || len(r.violations) > 0 {
		t.Errorf("%s %q: %v", r.last.State, r.last.Message, r.violations)
	}
}

func TestAgentWithAnOrderWhoseReportWasDeletedIsReported(t *testing.T) {
	s := story{name: "x", scenario: minor(shape(1, 2)), script: []scriptEvent{
		{applying("worker-2"), func(r *storyRun) {
			agentStops("worker-2")(r)
			m := r.machine("worker-2")
			m.report, m.kubelet.down = nil, false // the node is ready
		}},
	}}
	r := s.run("")
	if w := r.last.Waiting; r.last.State != Stalled || w[0].Reason != refitv1alpha1.ReasonReportMissing || w[0].Node != "worker-2" {
		t.Errorf("%s %q: %v", r.last.State, r.last.Message, w)
	}
}

func TestAbortOfANodeWhoseReportWasDeletedIsReported(t *testing.T) {
	s := story{name: "x", scenario: minor(shape(1, 2)), script: []scriptEvent{
		{claimed("cp-1"), func(r *storyRun) {
			agentStops("worker-2")(r)
			r.machine("worker-2").report = nil
			r.abort()
		}},
	}}
	r := s.run("")
	if w := r.last.Waiting; r.last.State != Stalled || w[0].Reason != refitv1alpha1.ReasonReportMissing || w[0].Node != "worker-2" {
		t.Errorf("%s %q: %v", r.last.State, r.last.Message, w)
	}
}
