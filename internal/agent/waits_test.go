package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// reportedWait is a wait as the status has it: the controllers judge it by its age.
type reportedWait struct {
	message string
	age     time.Duration
}

// recordWaits composes the status at each report, as a writer does that is fast enough.
func recordWaits(a *Agent) *[]reportedWait {
	var waits []reportedWait
	start, report := time.Now(), a.upgrade.host.ReportWait
	a.upgrade.host.ReportWait = func(reason string) {
		report(reason)
		status, _, _ := a.status.compose()
		wait := reportedWait{age: -1}
		if c := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionWaiting); c != nil {
			wait = reportedWait{c.Message, c.LastTransitionTime.Sub(start).Round(time.Minute)}
		}
		waits = append(waits, wait)
	}
	return &waits
}

// wantOneWait checks that one wait was reported from its start to its end.
func wantOneWait(t *testing.T, waits []reportedWait) {
	t.Helper()
	for i, w := range waits {
		if ended := w.message == ""; ended != (i == len(waits)-1) || !ended && w.age != waits[0].age {
			t.Fatalf("report %d of %d is %+v, the first one %+v", i+1, len(waits), w, waits[0])
		}
	}
}

// A wait for etcd is made of attempts that fail, and each of them waits for something first.
func TestWaitKeepsItsAgeOverAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, attempts := newTestAgent(t, &apiStub{}), 0
		onlyKubelet(t, a, steps.Action{Await: func(_ context.Context, h *steps.Host) error {
			if attempts++; attempts > 1 {
				h.ReportWait("waiting for node cp-2 to finish its etcd upgrade")
				time.Sleep(2 * time.Minute)
				h.ReportWait("")
			}
			if attempts == 8 {
				return nil
			}
			return node.Transient("EtcdUnreachable", nil, "-", "cannot reach etcd")
		}})
		waits := recordWaits(a)
		if err := a.upgrade.await(t.Context()); err != nil || attempts != 8 {
			t.Fatalf("%d attempts, error %v", attempts, err)
		}
		wantOneWait(t, *waits)
	})
}

// rollsBack makes the undo of swap-kubelet the next move.
func rollsBack(t *testing.T, a *Agent, action steps.Action) {
	t.Helper()
	onlyKubelet(t, a, action)
	must(t, a.upgrade.write(node.Record{Kind: node.Started, Step: node.StepKubelet}))
	must(t, a.upgrade.write(node.Record{Kind: node.RollbackStarted}))
}

func TestWaitOfARollbackKeepsItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAgent(t, &apiStub{})
		rollsBack(t, a, steps.Action{AwaitUndo: lockedFor(3*awaitLimit + time.Minute)})
		waits := recordWaits(a)
		if err := a.upgrade.await(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantOneWait(t, *waits)
		if (*waits)[0].message == "" || len(*waits) < 4 {
			t.Errorf("%+v", *waits)
		}
	})
}

// A rollback that waits for a lock ends with its agent and resumes with the next one. Some waits
// take an end of their context for an answer.
func TestWaitOfARollbackEndsWithItsAgentAndResumes(t *testing.T) {
	for situation, answer := range map[string]func(error) error{
		"the wait fails":     func(err error) error { return node.Transient("PackagesLocked", err, "-", "locked") },
		"the wait succeeds":  func(error) error { return nil },
		"the wait is broken": func(err error) error { return err },
	} {
		t.Run(situation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newTestAgent(t, &apiStub{})
				locked, undone := true, 0
				rollsBack(t, a, steps.Action{
					AwaitUndo: func(ctx context.Context, h *steps.Host) error {
						if !locked {
							return nil
						}
						h.ReportWait("waiting for process 7 (apt-get)")
						<-ctx.Done()
						return answer(ctx.Err())
					},
					Undo: func(context.Context, *steps.Host) error { undone++; return nil },
				})
				records := len(a.upgrade.journal.Records())
				ctx, cancel := context.WithCancel(t.Context())
				go func() { time.Sleep(time.Minute); cancel() }()
				start := time.Now()
				if err := a.loop(ctx); err != nil || time.Since(start) != time.Minute {
					t.Errorf("it ended after %v with %v", time.Since(start), err)
				}
				if got := len(a.upgrade.journal.Records()); got != records || undone > 0 {
					t.Errorf("%d new records, undone %d times", got-records, undone)
				}
				locked = false
				mustStep(t, a)
				if undone != 1 {
					t.Errorf("undone %d times after the restart", undone)
				}
			})
		})
	}
}

func TestNewOrderInterruptsTheWaitOfARollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAgent(t, &apiStub{})
		undone := false
		rollsBack(t, a, steps.Action{
			AwaitUndo: func(ctx context.Context, _ *steps.Host) error { <-ctx.Done(); return nil },
			Undo:      func(context.Context, *steps.Host) error { undone = true; return nil },
		})
		go func() { time.Sleep(time.Minute); a.orders.put(goodOrder("sha256:aa")) }()
		if !mustStep(t, a) || a.orders.take() == nil || undone {
			t.Errorf("the step ran without the lock: %t", undone)
		}
	})
}
