package nodeupgrade

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

var errConflict = apierrors.NewConflict(schema.GroupResource{Resource: "nodeupgrades"}, node, errors.New("it was modified"))

// pass lets time pass in the bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestADrainedNodeIsReportedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.drainer.results <- nil
		synctest.Wait()
		w.reconcile() // as the write of the status causes it
		w.expectDrains(1, 0)
		d := w.stored().Status.Drain
		if d.Phase != refitv1alpha1.DrainDrained || d.CompletionTime == nil || d.Remaining != 0 || len(d.Blockers) > 0 {
			t.Errorf("the drain's status is %+v", d)
		}
		if got, want := w.events(), []string{"Normal Drained No pod is left that has to move"}; !slices.Equal(got, want) {
			t.Errorf("recorded %q, want %q", got, want)
		}
	}, operation(), order(draining))
}

func TestAResultIsWrittenThoughTheAPIServerFails(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.mu.Lock()
		w.failGet, w.failPatch = []error{errInternal}, []error{errConflict, errInternal}
		w.mu.Unlock()
		w.drainer.results <- nil
		pass(time.Minute)
		if d := w.stored().Status.Drain; d.Phase != refitv1alpha1.DrainDrained {
			t.Errorf("the drain's status is %+v", d)
		}
	}, operation(), order(draining))
}

func TestTheResultOfASupersededDrainIsDropped(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.change(func(u *refitv1alpha1.NodeUpgrade) { u.Status.Drain.Delete = true })
		w.drainer.results <- nil
		synctest.Wait()
		if d := w.stored().Status.Drain; d.Phase != refitv1alpha1.DrainDraining {
			t.Errorf("the drain that replaced it was marked as %s", d.Phase)
		}
		if got := w.events(); len(got) > 0 {
			t.Errorf("recorded %q", got)
		}
		w.reconcile()
		w.expectDrains(2, 0)
		if !w.drainer.orders[1].Delete {
			t.Error("the second drain deletes nothing")
		}
	}, operation(), order(draining))
}

func TestADrainWithoutPermissionIsReportedAndRetried(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.drainer.results <- errors.New("cannot evict: forbidden")
		synctest.Wait()
		d := w.stored().Status.Drain
		if d.Phase != refitv1alpha1.DrainBlocked || !slices.Equal(d.Blockers, []refitv1alpha1.Blocker{{Pod: "*", Reason: "cannot evict: forbidden"}}) {
			t.Errorf("the drain's status is %+v", d)
		}
		pass(drainRetryInterval)
		w.expectDrains(2, 0)
		w.drainer.results <- nil
		synctest.Wait()
		if d := w.stored().Status.Drain; d.Phase != refitv1alpha1.DrainDrained || len(d.Blockers) > 0 {
			t.Errorf("the drain's status is %+v", d)
		}
	}, operation(), order(draining))
}

// TestADrainThatIsRequestedAgainAsItEndsIsNotLost has a pod return just after the node was drained:
// the request for another drain arrives while the first one has not left yet.
func TestADrainThatIsRequestedAgainAsItEndsIsNotLost(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		w.reconcile()
		w.drainer.results <- nil
		requeued := ctrl.Request{}
		requeued.Name = (<-w.ended).Object.GetName()
		w.change(func(u *refitv1alpha1.NodeUpgrade) { u.Status.Drain.Phase = refitv1alpha1.DrainDraining })
		if _, err := w.Reconcile(t.Context(), requeued); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.expectDrains(2, 0)
	}, operation(), order(draining))
}

func TestProgressIsWrittenOncePerInterval(t *testing.T) {
	var blockers []refitv1alpha1.Blocker
	for i := range 7 {
		blockers = append(blockers, refitv1alpha1.Blocker{Pod: fmt.Sprintf("shop/cart-%d", i), Reason: "held"})
	}
	inWorld(t, func(w *world) {
		w.reconcile()
		w.drainer.progress(drain.Progress{Remaining: 9, Progressing: true, Refused: 2})
		w.drainer.progress(drain.Progress{Remaining: 8, Progressing: true, Refused: 5, Blockers: blockers})
		pass(minStatusInterval - time.Millisecond)
		if d := w.stored().Status.Drain; d.Remaining != 0 {
			t.Errorf("written too early: %+v", d)
		}
		pass(time.Millisecond)
		d := w.stored().Status.Drain
		if d.Remaining != 8 || d.Phase != refitv1alpha1.DrainDraining || len(d.Blockers) != refitv1alpha1.MaxBlockers {
			t.Errorf("while pods move: %+v", d)
		}
		w.drainer.progress(drain.Progress{Remaining: 7, Refused: 6, Blockers: blockers[:1]})
		pass(minStatusInterval)
		if d := w.stored().Status.Drain; d.Remaining != 7 || d.Phase != refitv1alpha1.DrainBlocked || len(d.Blockers) != 1 {
			t.Errorf("while none moves: %+v", d)
		}
		if w.refused != 6 {
			t.Errorf("%d refused evictions were counted, not 6", w.refused)
		}
	}, operation(), order(draining))
}

func TestAWaiverTakesEffectDuringTheDrain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reconcile()
		mayLose := w.drainer.orders[0].Waived
		if mayLose("shop", "debug") {
			t.Error("a pod may be lost that was not waived")
		}
		o := operation()
		if err := w.Client.Get(t.Context(), types.NamespacedName{Name: o.Name}, o); err != nil {
			t.Fatal(err)
		}
		o.Spec.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckUnmanaged, Object: "Pod shop/debug", Reason: "of no use"}}
		if err := w.Client.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if !mayLose("shop", "debug") || mayLose("shop", "other") {
			t.Error("exactly the waived pod may be lost")
		}
		w.failGet = []error{errInternal}
		if !mayLose("shop", "debug") {
			t.Error("one failed read withdraws the waiver")
		}
	}, operation(), order(draining))
}
