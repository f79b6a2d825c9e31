package nodeupgrade

import (
	"errors"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var errInternal = apierrors.NewInternalError(errors.New("etcdserver: leader changed"))

func TestAFailedGetStopsNeitherDrainNorTrial(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.failGet = []error{errInternal}
		if _, err := w.Reconcile(t.Context(), request); !apierrors.IsInternalError(err) {
			t.Errorf("the failure must be returned, to be retried: %v", err)
		}
		synctest.Wait()
		w.expectDrains(1, 0)
		w.expectTrials(1, 0)
		w.reconcile()
		w.expectDrains(1, 0)
		w.expectTrials(1, 0)
	}, operation(), order(draining, trying))
}

func TestAJobThatIsNoLongerRequestedIsCanceled(t *testing.T) {
	for situation, change := range map[string]func(w *world){
		"the order was deleted": func(w *world) {
			if err := w.Client.Delete(w.Context(), order()); err != nil {
				w.Fatal(err)
			}
		},
		"the operation gave up": func(w *world) {
			w.change(func(u *refitv1alpha1.NodeUpgrade) {
				u.Status.Drain.Phase, u.Status.Trial = refitv1alpha1.DrainFailed, nil
			})
		},
		"a newer order came without them": func(w *world) {
			u := w.stored()
			u.Spec.Sequence++
			if err := w.Client.Update(w.Context(), u); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(situation, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.reconcile()
				change(w)
				w.reconcile()
				w.expectDrains(1, 1)
				w.expectTrials(1, 1)
				if w.concerns(order()) {
					t.Error("the jobs are still listed")
				}
			}, operation(), order(draining, trying))
		})
	}
}

func TestShuttingDownCancelsEveryJob(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.shutDown()
		w.expectDrains(1, 1)
		w.expectTrials(1, 1)
		w.reconcile()
		w.expectDrains(1, 1)
	}, operation(), order(draining, trying))
}

// TestShuttingDownDoesNotWaitForTheQueue has a job end that was requested again, when the
// controller's queue takes nothing any more.
func TestShuttingDownDoesNotWaitForTheQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.reconcile()
		w.drainer.results <- nil
		synctest.Wait()
		w.shutDown()
	}, operation(), order(draining))
}
