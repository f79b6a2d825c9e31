package plan

import (
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The wait of an agent before its first change is unbounded, so the operation has to report it.
func TestAgentThatWaitsForLongIsReported(t *testing.T) {
	const offset = 9 * time.Minute
	for name, skew := range map[string]time.Duration{"its clock is right": 0, "its clock is ahead": offset, "its clock is behind": -offset} {
		t.Run(name, func(t *testing.T) {
			var since, reported time.Time
			s := story{name: "x", scenario: minor(shape(1, 2)), ends: Succeeded, script: []scriptEvent{
				{claimed("worker-1"), func(r *storyRun) {
					since = r.now
					m := r.machine("worker-1")
					m.skew, m.agent.lockedUntil = skew, r.now.Add(40*time.Minute)
					m.writeReport(r.world)
				}},
				{is(Stalled), func(r *storyRun) { reported = r.now }},
				{later(1, is(Stalled)), func(r *storyRun) {
					w := r.last.Waiting[0]
					if w.Reason != refitv1alpha1.ReasonWaiting || w.Node != "worker-1" || !strings.Contains(w.Message, "another package manager") || w.Remedy == "" {
						t.Errorf("it waits for %+v", w)
					}
				}},
			}}
			r := s.run("")
			if after := reported.Sub(since); r.op.end != Succeeded || after < interventionDelay || after > interventionDelay+3*time.Minute {
				t.Errorf("reported after %s, ended as %q: %s %v", after, r.op.end, r.last.Message, r.violations)
			}
		})
	}
}

// A rollback waits for a lock without a timeout, and an abort cannot end it.
func TestRemedyOfARollbackThatTakesLongIsTrue(t *testing.T) {
	for name, what := range map[string]string{"it waits": "dpkg is locked by process 7 (apt-get)", "a step is slow": ""} {
		t.Run(name, func(t *testing.T) {
			var got []Wait
			s := story{name: "x", scenario: minor(shape(1, 2)), ends: Succeeded, duration: 3 * time.Hour, script: []scriptEvent{
				{applying("worker-1"), failsNextStep("worker-1")},
				{rollingBack("worker-1"), func(r *storyRun) {
					m := r.machine("worker-1")
					m.agent.next, m.kubelet.down = r.now.Add(50*time.Minute), false
					m.await(r.world, refitv1alpha1.ReasonStepWaiting, what)
				}},
				{later(40, rollingBack("worker-1")), func(r *storyRun) {
					got = r.last.Waiting
					r.machine("worker-1").await(r.world, "", "")
				}},
				{later(50, is(Stalled)), func(r *storyRun) { r.retry() }},
			}}
			s.run("")
			if len(got) == 0 || got[0].Reason != refitv1alpha1.ReasonWaiting || !strings.Contains(got[0].Remedy, "journalctl -u refit-agent") ||
				!strings.Contains(got[0].Remedy, "rollback") || strings.Contains(got[0].Remedy, "refit abort") || strings.Contains(got[0].Message, "Upgrading") {
				t.Errorf("it waits for %+v", got)
			}
		})
	}
}
