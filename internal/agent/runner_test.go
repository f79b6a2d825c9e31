package agent

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// onlyKubelet makes swap-kubelet the next step of a worker's upgrade, with an action of the test.
func onlyKubelet(t *testing.T, a *Agent, action steps.Action) {
	t.Helper()
	const step = node.StepKubelet
	was := steps.Actions[step]
	steps.Actions[step] = action
	t.Cleanup(func() { steps.Actions[step] = was })
	spec := goodOrder("sha256:aa").Spec
	upgrade := node.Upgrade{Operation: spec.Operation, Release: spec.Release, NodeUID: nodeUID, NodeName: nodeName, Role: spec.Role, From: "v1.35.4", To: "v1.36.3"}
	dir := t.TempDir()
	j, err := journal.Create(filepath.Join(dir, "journal"), machineID, node.Record{Kind: node.Opened, Upgrade: &upgrade})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	log := slog.New(slog.DiscardHandler)
	a.upgrade = &runner{
		journal: j, log: log, changed: a.status.setState, bounded: a.status.setDeadline,
		host: &steps.Host{Settings: a.Settings, Upgrade: upgrade, Dir: dir, Log: log, ReportWait: a.status.setWaiting, Effect: effectOf("test")},
	}
	order := node.Order{Operation: spec.Operation.UID, Sequence: 7, Epoch: 3, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}
	records := []node.Record{{Kind: node.Ordered, Order: &order}}
	for _, s := range node.Steps(upgrade) {
		if s.Name == step {
			break
		}
		records = append(records, node.Record{Kind: node.Started, Step: s.Name}, node.Record{Kind: node.Done, Step: s.Name})
	}
	for _, r := range records {
		if err := a.upgrade.write(r); err != nil {
			t.Fatal(err)
		}
	}
	a.state.Open = filepath.Base(dir)
}

func mustStep(t *testing.T, a *Agent) bool {
	t.Helper()
	more, err := a.step(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return more
}

// Another package manager may run for longer than any step.
func TestWaitLongerThanTheStepLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAgent(t, &apiStub{})
		started := time.Now()
		var reported string
		onlyKubelet(t, a, steps.Action{
			Await: func(ctx context.Context, h *steps.Host) error {
				h.ReportWait("waiting for process 7 (apt-get)")
				reported = a.status.waiting
				select {
				case <-time.After(20 * time.Minute):
					return nil
				case <-ctx.Done():
					return node.Transient("PackagesLocked", ctx.Err(), "-", "locked")
				}
			},
			Do: func(ctx context.Context, _ *steps.Host) error {
				if left, _ := ctx.Deadline(); time.Until(left) != 4*time.Minute {
					t.Errorf("the step has %v left", time.Until(left))
				}
				return nil
			},
		})
		if !mustStep(t, a) || !node.Read(a.upgrade.journal.Records()).IsDone(node.StepKubelet) || time.Since(started) != 20*time.Minute {
			t.Errorf("the step did not run after %v: %+v", time.Since(started), a.status.status.Error)
		}
		if reported == "" || a.status.waiting != "" {
			t.Errorf("reported %q, then %q", reported, a.status.waiting)
		}
	})
}

// A lock that is never released fails the order, and leaves the healthy host as it is.
func TestWaitThatNeverEndsDoesNotRollBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAgent(t, &apiStub{})
		onlyKubelet(t, a, steps.Action{
			Await: func(ctx context.Context, _ *steps.Host) error {
				<-ctx.Done()
				return node.Transient("PackagesLocked", ctx.Err(), "-", "locked")
			},
			Do: func(context.Context, *steps.Host) error {
				t.Error("the step ran")
				return nil
			},
		})
		if mustStep(t, a) {
			t.Error("there was another move")
		}
		state := node.Read(a.upgrade.journal.Records())
		if status := state.Status(); status.Phase != refitv1alpha1.NodeFailed || status.Error.Reason != "PackagesLocked" || state.RollingBack {
			t.Errorf("%+v", status)
		}
	})
}

func TestNewOrderInterruptsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, early := range []bool{true, false} {
			a := newTestAgent(t, &apiStub{})
			waits := make(chan struct{}, 2)
			onlyKubelet(t, a, steps.Action{Await: func(ctx context.Context, _ *steps.Host) error {
				waits <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}})
			order := goodOrder("sha256:aa")
			if early {
				a.orders.put(order)
			} else {
				go func() { <-waits; a.orders.put(order) }()
			}
			started := time.Now()
			if !mustStep(t, a) || time.Since(started) > time.Second || a.orders.take() != order {
				t.Error("the order was not taken")
			}
			if failure := node.Read(a.upgrade.journal.Records()).Failure; failure != nil {
				t.Errorf("the step failed: %v", failure)
			}
			if err := a.upgrade.await(a.orders.interrupt(canceled(t))); !errors.Is(err, context.Canceled) {
				t.Errorf("a stopping agent: %v", err)
			}
		}
	})
}

func canceled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// A step whose agent died in it may have changed the host, so a wait that never ends rolls it back.
// A step that failed before has decided that itself.
func TestWaitOfAnInterruptedStepRollsBack(t *testing.T) {
	for situation, tt := range map[string]struct {
		since []node.Record
		want  bool
	}{
		"not started":    {nil, false},
		"the agent died": {[]node.Record{{Kind: node.Started, Step: node.StepKubelet}}, true},
		"it failed and is retried": {[]node.Record{
			{Kind: node.Started, Step: node.StepKubelet},
			{Kind: node.Failed, Step: node.StepKubelet, Failure: &node.Failure{NoRollback: true}},
			{Kind: node.Ordered, Order: &node.Order{Operation: "op-uid", Sequence: 8, Attempt: 1, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}},
		}, false},
	} {
		t.Run(situation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newTestAgent(t, &apiStub{})
				onlyKubelet(t, a, steps.Action{Await: lockedFor(time.Hour)})
				for _, r := range tt.since {
					must(t, a.upgrade.write(r))
				}
				mustStep(t, a)
				if got := node.Read(a.upgrade.journal.Records()).RollingBack; got != tt.want {
					t.Errorf("it rolls back: %t", got)
				}
			})
		})
	}
}

// A rollback that gives up on the kubelet leaves it newer than the API server, undone next.
func TestRollbackContinuesAfterALongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAgent(t, &apiStub{})
		undone := false
		onlyKubelet(t, a, steps.Action{
			AwaitUndo: lockedFor(2*awaitLimit + time.Minute),
			Undo:      func(context.Context, *steps.Host) error { undone = true; return nil },
		})
		must(t, a.upgrade.write(node.Record{Kind: node.Started, Step: node.StepKubelet}))
		must(t, a.upgrade.write(node.Record{Kind: node.RollbackStarted}))
		mustStep(t, a)
		if failure := node.Read(a.upgrade.journal.Records()).Failure; !undone || failure != nil {
			t.Errorf("undone: %t, %v", undone, failure)
		}
	})
}

// lockedFor is the wait for a lock that another process releases after a while.
func lockedFor(d time.Duration) func(context.Context, *steps.Host) error {
	began := time.Now()
	return func(ctx context.Context, h *steps.Host) error {
		h.ReportWait("waiting for process 7 (apt-get)")
		select {
		case <-time.After(d - time.Since(began)):
			return nil
		case <-ctx.Done():
			failure := node.Transient("PackagesLocked", ctx.Err(), "-", "locked")
			failure.NoRollback = true // as the package manager's
			return failure
		}
	}
}
