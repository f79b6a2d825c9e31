package component

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const limit = 10 * time.Minute

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestFreezes(t *testing.T) {
	frozen := func(ago time.Duration) *refitv1alpha1.FrozenStatus {
		return &refitv1alpha1.FrozenStatus{Since: metav1.NewTime(now.Add(-ago)), Limit: metav1.Duration{Duration: limit}}
	}
	lifted := frozen(time.Hour)
	lifted.Lifted = true
	for situation, tt := range map[string]struct {
		frozen *refitv1alpha1.FrozenStatus
		after  time.Duration // of the next reconcile
		thaws  bool
	}{
		"nothing is frozen":             {},
		"within its limit":              {frozen: frozen(limit - time.Minute), after: time.Minute + grace},
		"within the time of a takeover": {frozen: frozen(limit + grace - time.Second), after: time.Second},
		"overdue":                       {frozen: frozen(limit + grace), thaws: true},
		"lifted at its limit":           {frozen: lifted},
	} {
		t.Run(situation, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := refitv1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			u := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
			u.Spec.Sequence, u.Status.Frozen = 7, tt.frozen
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(u).Build()
			recorder := events.NewFakeRecorder(1)
			r := &Reconciler{Client: c, Recorder: recorder, Now: func() time.Time { return now }}
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(u)})
			if err != nil {
				t.Fatal(err)
			}
			if result.RequeueAfter != tt.after {
				t.Errorf("reconciled again after %s, want %s", result.RequeueAfter, tt.after)
			}
			var got refitv1alpha1.ComponentUpgrade
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), &got); err != nil {
				t.Fatal(err)
			}
			if got.Spec.Thaw != tt.thaws || (got.Spec.Sequence == 8) != tt.thaws || (len(recorder.Events) == 1) != tt.thaws {
				t.Errorf("the order is %+v, with %d Events", got.Spec, len(recorder.Events))
			}
		})
	}
}
