package agent

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// written records the written statuses.
type written struct {
	api
	started  time.Time
	statuses []refitv1alpha1.NodeUpgradeStatus
	at       []time.Duration
}

func (w *written) NodeName() string { return "n1" }

func (w *written) ApplyUpgradeStatus(_ context.Context, _ string, status refitv1alpha1.NodeUpgradeStatus) error {
	w.statuses, w.at = append(w.statuses, status), append(w.at, time.Since(w.started))
	return nil
}

func TestProgressIsThrottledAndPhasesAreWrittenImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := &written{started: time.Now()}
		writer := newStatusWriter(slog.New(slog.DiscardHandler), "boot", "dev")
		writer.client = got
		go writer.run(ctx)

		phase := func(p refitv1alpha1.NodePhase) { writer.change(func() { writer.status.Phase = p }) }
		phase(refitv1alpha1.NodeApplying)
		for _, what := range []string{"one", "two", "three"} {
			time.Sleep(minWriteInterval / 4)
			writer.setWaiting(what)
		}
		time.Sleep(minWriteInterval) // only the last of the three is written
		phase(refitv1alpha1.NodeSucceeded)
		time.Sleep(minWriteInterval / 4)
		cancel()
		synctest.Wait()

		if len(got.statuses) != 3 {
			t.Fatalf("%d writes at %v, want 3: the phase, the last progress, the last phase", len(got.statuses), got.at)
		}
		if progress := meta.FindStatusCondition(got.statuses[1].Conditions, refitv1alpha1.ConditionWaiting).Message; progress != "three" || got.at[1] != minWriteInterval {
			t.Errorf("%q was written after %v, want three after %v", progress, got.at[1], minWriteInterval)
		}
		if end := minWriteInterval/4*3 + minWriteInterval; got.statuses[2].Phase != refitv1alpha1.NodeSucceeded || got.at[2] != end {
			t.Errorf("%s was written after %v, want %s after %v", got.statuses[2].Phase, got.at[2], refitv1alpha1.NodeSucceeded, end)
		}
	})
}

func TestConditionsHaveTheObservedGeneration(t *testing.T) {
	writer := newStatusWriter(slog.New(slog.DiscardHandler), "boot", "dev")
	order := func(sequence, generation int64) {
		u := &refitv1alpha1.NodeUpgrade{}
		u.Spec.Sequence, u.Generation = sequence, generation
		writer.observe(u)
	}
	observedGeneration := func() int64 {
		status, _, _ := writer.compose()
		if ready := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionReady); ready == nil || ready.ObservedGeneration != status.ObservedGeneration {
			t.Errorf("Ready is %+v, observedGeneration is %d", ready, status.ObservedGeneration)
		}
		return status.ObservedGeneration
	}
	order(7, 1)
	writer.setResult(&node.Result{Sequence: 7, Phase: refitv1alpha1.NodePrefetched})
	if got := observedGeneration(); got != 1 {
		t.Errorf("after the first order: %d", got)
	}
	order(8, 2)
	if got := observedGeneration(); got != 1 {
		t.Errorf("before the second order is observed: %d", got)
	}
	writer.setRefusal(&node.Refusal{Reason: "StaleEpoch", Message: "a newer leader has written an order"})
	if got := observedGeneration(); got != 2 {
		t.Errorf("after the second order is refused: %d", got)
	}
}

// failing rejects the first writes.
type failing struct {
	written
	failures int
}

func (f *failing) ApplyUpgradeStatus(ctx context.Context, name string, status refitv1alpha1.NodeUpgradeStatus) error {
	if f.failures > 0 {
		f.failures--
		return errors.New("connection refused")
	}
	return f.written.ApplyUpgradeStatus(ctx, name, status)
}

// After a restore of etcd the cluster has an old status; its correction survives a failed write.
func TestAStaleStatusIsCorrectedAfterAFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := &failing{}
		got.started = time.Now()
		writer := newStatusWriter(slog.New(slog.DiscardHandler), "boot", strings.Repeat("v", 90))
		writer.client = got
		go writer.run(ctx)
		writer.change(func() { writer.status.Phase = refitv1alpha1.NodeSucceeded })
		time.Sleep(time.Minute)
		synctest.Wait() // the writer is idle
		got.failures = 1
		writer.observe(&refitv1alpha1.NodeUpgrade{})
		time.Sleep(time.Minute)
		cancel()
		synctest.Wait()
		if len(got.statuses) != 2 {
			t.Fatalf("%d writes, want 2: the status, and its correction", len(got.statuses))
		}
		if n := len([]rune(got.statuses[0].AgentVersion)); n > refitv1alpha1.MaxAgentVersion {
			t.Errorf("the agent version has %d characters", n)
		}
	})
}

// The remedy of a wait refers to the log of the agent.
func TestWaitsAreLoggedOnce(t *testing.T) {
	var log strings.Builder
	writer := newStatusWriter(slog.New(slog.NewTextHandler(&log, nil)), "boot", "dev")
	for _, what := range []string{"waiting for process 7", "waiting for process 7", "", "waiting for node cp-2", ""} {
		writer.setWaiting(what)
	}
	if got := log.String(); strings.Count(got, "\n") != 2 || strings.Count(got, "process 7") != 1 || strings.Count(got, "cp-2") != 1 {
		t.Errorf("logged %q", got)
	}
}

// The API rejects a status with longer texts, and the agent would report nothing at all.
func TestFailureOfAResultFitsTheAPI(t *testing.T) {
	w := newStatusWriter(slog.New(slog.DiscardHandler), "boot", "dev")
	long := strings.Repeat("x", 5000)
	w.setResult(&node.Result{Phase: refitv1alpha1.NodeFailed, Failure: &node.Failure{Message: long, Remedy: long, LogTail: long}})
	got := w.status.Error
	if len([]rune(got.Message)) > refitv1alpha1.MaxMessage || len([]rune(got.Remedy)) > refitv1alpha1.MaxMessage || len([]rune(got.LogTail)) > refitv1alpha1.MaxLogTail {
		t.Errorf("the texts have %d, %d and %d bytes", len(got.Message), len(got.Remedy), len(got.LogTail))
	}
}
