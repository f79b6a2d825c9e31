package orders

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func componentOrder(sequence int64, phase refitv1alpha1.ComponentPhase) *refitv1alpha1.ComponentUpgrade {
	u := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "liqo"}}
	u.Spec.Sequence, u.Status.Phase = sequence, phase
	return u
}

func observedOrder(u *refitv1alpha1.ComponentUpgrade) *cluster.ComponentUpgrade {
	return &cluster.ComponentUpgrade{Name: u.Name, Spec: u.Spec, Status: u.Status}
}

func TestOrdersForAComponentAreNumbered(t *testing.T) {
	w := writer(t)
	var observed *cluster.ComponentUpgrade
	for sequence := int64(1); sequence <= 2; sequence++ {
		current, err := w.CurrentComponent(t.Context(), "liqo", observed)
		if err != nil || current == nil {
			t.Fatal(current, err)
		}
		order := ComponentOrder{Permit: refitv1alpha1.PermitApply, Version: "v1.2.0", Action: refitv1alpha1.ActionUpgrade, Digest: "sha256:d", Attempt: 3}
		if err := w.WriteComponent(t.Context(), current, operation(), order, time.Now()); err != nil {
			t.Fatal(err)
		}
		if s := current.Spec; s.Sequence != sequence || s.Epoch != 2 || s.Operation.UID != "op" || s.Attempt != 3 || s.Digest != "sha256:d" || s.OrderTime == nil {
			t.Errorf("the order is %+v", s)
		}
		observed = observedOrder(current)
	}
}

func TestAComponentThatIsNotAsObservedGetsNoOrder(t *testing.T) {
	for situation, observed := range map[string]*cluster.ComponentUpgrade{
		"it had no order":               nil,
		"another leader has written":    observedOrder(componentOrder(6, refitv1alpha1.ComponentApplying)),
		"refit-components has answered": observedOrder(componentOrder(7, refitv1alpha1.ComponentIdle)),
	} {
		w := writer(t, componentOrder(7, refitv1alpha1.ComponentApplying))
		if current, err := w.CurrentComponent(t.Context(), "liqo", observed); err != nil || current != nil {
			t.Errorf("%s: %+v, %v", situation, current, err)
		}
	}
	w := writer(t)
	if current, err := w.CurrentComponent(t.Context(), "liqo", observedOrder(componentOrder(7, refitv1alpha1.ComponentIdle))); err != nil || current != nil {
		t.Errorf("a deleted order: %+v, %v", current, err)
	}
}

func TestTwoLeadersDoNotBothOrderAComponent(t *testing.T) {
	w := writer(t, componentOrder(7, refitv1alpha1.ComponentSucceeded))
	observed := observedOrder(componentOrder(7, refitv1alpha1.ComponentSucceeded))
	first, err := w.CurrentComponent(t.Context(), "liqo", observed)
	if err != nil {
		t.Fatal(err)
	}
	second := first.DeepCopy()
	if err := w.WriteComponent(t.Context(), first, operation(), ComponentOrder{Permit: refitv1alpha1.PermitApply}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteComponent(t.Context(), second, operation(), ComponentOrder{Permit: refitv1alpha1.PermitApply}, time.Now()); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
}
