package nodeupgrade

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/trial"
)

func TestATrialIsRetriedUntilTheNodeIsHealthy(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.runner.results <- &trial.Failure{Message: "the Pod did not start"}
		synctest.Wait()
		if got := w.stored().Status.Trial; got.Phase != refitv1alpha1.TrialFailed || got.Message != "the Pod did not start" || got.CompletionTime == nil {
			t.Errorf("after a failed trial: %+v", got)
		}
		pass(trialRetryInterval)
		w.runner.results <- nil
		synctest.Wait()
		if got := w.stored().Status.Trial; got.Phase != refitv1alpha1.TrialPassed || got.Message != "" {
			t.Errorf("after a passed trial: %+v", got)
		}
		w.expectTrials(2, 0)
	}, operation(), order(trying))
}

func TestATrialThatTheAPIServerCannotRunFailsNoNode(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.runner.results <- errInternal
		synctest.Wait()
		if got := w.stored().Status.Trial; got.Phase != refitv1alpha1.TrialRunning {
			t.Errorf("the trial's status is %+v", got)
		}
		w.mu.Lock()
		w.failGet = []error{errInternal} // of the operation
		w.mu.Unlock()
		pass(apiRetryInterval)
		w.expectTrials(2, 0)
	}, operation(), order(trying))
}

func TestWithoutAnImageTheOperationContinuesUntried(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.runner.results <- trial.ErrNoImage
		synctest.Wait()
		got := w.stored().Status.Trial
		if got.Phase != refitv1alpha1.TrialPassed || !strings.HasPrefix(got.Message, "not tried: ") {
			t.Errorf("the trial's status is %+v", got)
		}
		if recorded := w.events(); len(recorded) != 1 || !strings.HasPrefix(recorded[0], "Warning NotTried not tried: ") {
			t.Errorf("recorded %q", recorded)
		}
	}, operation(), order(trying))
}

func TestATrialEndsWithItsOperation(t *testing.T) {
	for situation, change := range map[string]func(o *refitv1alpha1.ClusterUpgrade){
		"it was aborted": func(o *refitv1alpha1.ClusterUpgrade) { o.Spec.Aborted = true },
		"another one has its name": func(o *refitv1alpha1.ClusterUpgrade) {
			o.UID = "another"
		},
	} {
		t.Run(situation, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.reconcile()
				o := operation()
				if err := w.Client.Get(t.Context(), types.NamespacedName{Name: o.Name}, o); err != nil {
					t.Fatal(err)
				}
				change(o)
				if err := w.Client.Update(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				w.runner.results <- errors.New("cannot reach the API server")
				pass(time.Minute)
				w.expectTrials(1, 0)
				if w.concerns(order()) {
					t.Error("the trial is still active")
				}
			}, operation(), order(trying))
		})
	}
}

func TestANewLeaderRemovesOnlyThePodsOfTrialsThatNobodyAwaits(t *testing.T) {
	aborted := func(o *refitv1alpha1.ClusterUpgrade) { o.Name, o.UID, o.Spec.Aborted = "aborted", "op-2", true }
	named := func(name string) func(*refitv1alpha1.NodeUpgrade) {
		return func(u *refitv1alpha1.NodeUpgrade) { u.Name = name }
	}
	ofAborted := func(u *refitv1alpha1.NodeUpgrade) {
		u.Spec.Operation = refitv1alpha1.Operation{Name: "aborted", UID: "op-2"}
	}
	inWorld(t, func(w *world) {
		w.runner.pods = []string{"tried", "finished", "of-an-aborted-operation", "without-an-order"}
		w.removeLeftoverTrials(t.Context())
		if want := []string{"finished", "of-an-aborted-operation", "without-an-order"}; !slices.Equal(w.runner.removed, want) {
			t.Errorf("removed the Pods of %q, want %q", w.runner.removed, want)
		}
	}, operation(), operation(aborted), order(named("tried"), trying), order(named("finished")), order(named("of-an-aborted-operation"), trying, ofAborted))
}
