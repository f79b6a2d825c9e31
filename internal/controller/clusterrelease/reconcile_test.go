package clusterrelease

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var request = ctrl.Request{NamespacedName: types.NamespacedName{Name: "v1.36.3"}}

func order(node string) *refitv1alpha1.NodeUpgrade {
	u := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: node}}
	u.Spec.Release.Name, u.Spec.Permit = "v1.36.3", refitv1alpha1.PermitPrefetch
	u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonAccepted}}
	return u
}

func reconciler(t *testing.T, now *time.Time, objects ...client.Object) *Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := refitv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&refitv1alpha1.ClusterRelease{}).Build()
	return &Reconciler{Cache: c, Client: c, Now: func() time.Time { return *now }}
}

func TestManyAnswersAreCountedInFewWrites(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	r := reconciler(t, &now, &refitv1alpha1.ClusterRelease{ObjectMeta: metav1.ObjectMeta{Name: "v1.36.3", UID: "r"}}, order("n1"))
	verified := func() int32 {
		got := &refitv1alpha1.ClusterRelease{}
		if err := r.Client.Get(t.Context(), request.NamespacedName, got); err != nil {
			t.Fatal(err)
		}
		return got.Status.VerifiedHosts
	}
	reconcile := func() ctrl.Result {
		t.Helper()
		result, err := r.Reconcile(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	if reconcile(); verified() != 1 {
		t.Fatalf("%d hosts verified, want 1", verified())
	}
	if err := r.Client.Create(t.Context(), order("n2")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	if result := reconcile(); verified() != 1 || result.RequeueAfter != writeInterval-time.Second {
		t.Errorf("a second later: %d hosts verified, requeue after %s", verified(), result.RequeueAfter)
	}
	now = now.Add(writeInterval)
	if result := reconcile(); verified() != 2 || result.RequeueAfter != 0 {
		t.Errorf("after the interval: %d hosts verified, requeue after %s", verified(), result.RequeueAfter)
	}
}

func TestADeletedReleaseIsIgnored(t *testing.T) {
	now := time.Now()
	if result, err := reconciler(t, &now).Reconcile(t.Context(), request); err != nil || result.RequeueAfter != 0 {
		t.Errorf("Reconcile() = %+v, %v", result, err)
	}
}

func TestOnlyAnswersCauseAReconcile(t *testing.T) {
	progressed, refused := order("n1"), order("n1")
	progressed.Status.Step = "swap-kubelet"
	refused.Status.Conditions[0].Status = metav1.ConditionFalse
	if answerChanged(event.UpdateEvent{ObjectOld: order("n1"), ObjectNew: progressed}) {
		t.Error("another step causes a reconcile")
	}
	if !answerChanged(event.UpdateEvent{ObjectOld: order("n1"), ObjectNew: refused}) {
		t.Error("a refusal causes none")
	}
}
