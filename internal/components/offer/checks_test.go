package offer

import (
	"errors"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/check"
)

func TestProblemsOfChecks(t *testing.T) {
	signed := &refitv1alpha1.ComponentCheck{
		Name: "no-stopped-queues", Objects: refitv1alpha1.CheckedObjects{Kind: "ClusterQueue.kueue.x-k8s.io"},
		Message: "the queue is stopped", Remedy: "Resume the queue",
	}
	const object = "Check kueue/no-stopped-queues"
	for name, test := range map[string]struct {
		result check.Result
		want   []Problem
	}{
		"it holds": {},
		"one object": {check.Result{Failed: true, Objects: []string{"a"}}, []Problem{
			{Reason: "CheckFailed", Object: object, Message: "the queue is stopped: ClusterQueue a", Remedy: "Resume the queue", Blocks: true},
		}},
		"many objects": {check.Result{Failed: true, Objects: []string{"a", "b", "c", "d", "e"}}, []Problem{
			{Reason: "CheckFailed", Object: object, Message: "the queue is stopped: ClusterQueue a, b, c and 2 more", Remedy: "Resume the queue", Blocks: true},
		}},
		"list": {check.Result{Failed: true}, []Problem{
			{Reason: "CheckFailed", Object: object, Message: "the queue is stopped", Remedy: "Resume the queue", Blocks: true},
		}},
		"rule with an error": {check.Result{Failed: true, Objects: []string{"a"}, Invalid: errors.New("ClusterQueue b: no such key")}, []Problem{
			{Reason: "CheckFailed", Object: object, Message: "the queue is stopped: ClusterQueue a", Remedy: "Resume the queue", Blocks: true},
			{
				Reason: "CheckInvalid", Object: object, Message: "the check no-stopped-queues cannot be evaluated: ClusterQueue b: no such key",
				Remedy: remedies["CheckInvalid"], Blocks: true,
			},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, severity := range []refitv1alpha1.CheckSeverity{"", refitv1alpha1.CheckBlocks, refitv1alpha1.CheckWarns} {
				signed.Severity = severity
				got := problemsOf("kueue", signed, test.result)
				if len(got) != len(test.want) {
					t.Fatalf("%+v", got)
				}
				for i, want := range test.want {
					want.Blocks = severity != refitv1alpha1.CheckWarns
					if got[i] != want {
						t.Errorf("severity %q: %+v, want %+v", severity, got[i], want)
					}
				}
			}
		})
	}
}

// A status with a longer text is refused.
func TestProblemsOfChecksFitTheStatus(t *testing.T) {
	long := strings.Repeat("ä", 400)
	signed := &refitv1alpha1.ComponentCheck{Name: strings.Repeat("c", 63), Message: long, Remedy: long, Objects: refitv1alpha1.CheckedObjects{Kind: "Pod"}}
	result := check.Result{Failed: true, Objects: []string{long, long}, Invalid: errors.New(long)}
	for _, p := range problemsOf(strings.Repeat("n", 63), signed, result) {
		if len([]rune(p.Message)) > 256 || len([]rune(p.Remedy)) > 256 || len([]rune(p.Object)) > 384 {
			t.Errorf("%+v", p)
		}
	}
}
