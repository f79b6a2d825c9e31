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
