package backup

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestAnIdentityIsProvenForItsRecipientsOnly(t *testing.T) {
	at := time.Date(2026, 11, 16, 3, 0, 0, 500, time.UTC)
	store := &refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	store.Spec.Recipients = []string{"a", "b"}
	expect := func(situation string, status metav1.ConditionStatus, reason string) {
		t.Helper()
		if got := IdentityProven(store); got.Status != status || got.Reason != reason || got.ObservedGeneration != store.Generation {
			t.Errorf("%s: %+v", situation, got)
		}
	}
	expect("never verified", metav1.ConditionFalse, refitv1alpha1.ReasonNeverDecrypted)
	if Prove(store, "nightly", []string{"c"}, at) || Prove(store, "nightly", nil, at) || store.Status.Proven != nil {
		t.Errorf("the identity of another is proven: %+v", store.Status)
	}
	if !Prove(store, "nightly", []string{"c", "a"}, at) || !slices.Equal(store.Status.Proven.Recipients, []string{"a"}) {
		t.Errorf("proven: %+v", store.Status.Proven)
	}
	if !meta.IsStatusConditionTrue(store.Status.Conditions, refitv1alpha1.ConditionIdentityProven) || store.Status.Conditions[0].ObservedGeneration != 2 {
		t.Errorf("conditions: %+v", store.Status.Conditions)
	}
	expect("verified", metav1.ConditionTrue, refitv1alpha1.ReasonDecrypted)
	store.Spec.Recipients, store.Generation = []string{"a", "d"}, 3
	expect("another recipient is added", metav1.ConditionTrue, refitv1alpha1.ReasonDecrypted)
	store.Spec.Recipients, store.Generation = []string{"d"}, 4
	expect("the proven recipient is removed", metav1.ConditionFalse, refitv1alpha1.ReasonRecipientsChanged)
	if !Prove(store, "weekly", []string{"d"}, at) || !slices.Equal(store.Status.Proven.Recipients, []string{"d"}) || store.Status.Conditions[0].ObservedGeneration != 4 {
		t.Errorf("status: %+v", store.Status)
	}
	store.Spec.Recipients = []string{"d", "e"}
	if !Prove(store, "weekly", []string{"e", "e"}, at) || !slices.Equal(store.Status.Proven.Recipients, []string{"d", "e"}) {
		t.Errorf("both are proven: %+v", store.Status.Proven)
	}
}
