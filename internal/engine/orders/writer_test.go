package orders

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func writer(t *testing.T, objects ...client.Object) Writer {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := refitv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&refitv1alpha1.NodeUpgrade{}).Build()
	return Writer{Client: c, FieldOwner: "test"}
}

func operation() *refitv1alpha1.ClusterUpgrade {
	o := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1.36", UID: "op"}}
	o.Status.Epoch = 2
	return o
}

func worker(upgrade *refitv1alpha1.NodeUpgrade) *cluster.Node {
	n := &cluster.Node{Name: "worker-1", UID: "uid-1", Report: &refitv1alpha1.NodeReportStatus{AcceptedSequence: 5}}
	if upgrade != nil {
		n.Upgrade = &cluster.Upgrade{Spec: upgrade.Spec, Status: upgrade.Status}
	}
	return n
}

func order(permit refitv1alpha1.Permit, sequence int64) *refitv1alpha1.NodeUpgrade {
	u := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	u.Spec = refitv1alpha1.NodeUpgradeSpec{Format: 1, NodeUID: "uid-1", Permit: permit, Sequence: sequence}
	return u
}

func stored(t *testing.T, w Writer) *refitv1alpha1.NodeUpgrade {
	t.Helper()
	u := &refitv1alpha1.NodeUpgrade{}
	if err := w.Client.Get(t.Context(), types.NamespacedName{Name: "worker-1"}, u); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestFirstOrderCreatesTheNodeUpgradeOfTheNode(t *testing.T) {
	w, n := writer(t), worker(nil)
	current, err := w.Current(t.Context(), n)
	if err != nil || current == nil {
		t.Fatal(current, err)
	}
	if err := w.Write(t.Context(), current, operation(), n, Order{Permit: refitv1alpha1.PermitPrefetch}, time.Now()); err != nil {
		t.Fatal(err)
	}
	got := stored(t, w)
	if got.Spec.Permit != refitv1alpha1.PermitPrefetch || got.Spec.Sequence != 6 || got.Spec.Epoch != 2 || got.Spec.Format != 1 {
		t.Errorf("got %+v", got.Spec)
	}
	if len(got.OwnerReferences) != 1 || got.OwnerReferences[0].Kind != "Node" || got.OwnerReferences[0].UID != "uid-1" {
		t.Errorf("owners %+v", got.OwnerReferences)
	}
	if !meta.IsStatusConditionPresentAndEqual(got.Status.Conditions, refitv1alpha1.ConditionReady, metav1.ConditionUnknown) {
		t.Errorf("conditions %+v", got.Status.Conditions)
	}
}

func TestNextOrderReplacesTheObservedOne(t *testing.T) {
	before := order(refitv1alpha1.PermitPrefetch, 8)
	before.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "worker-1", UID: "uid-0"}}
	w, n := writer(t, before), worker(before)
	current, err := w.Current(t.Context(), n)
	if err != nil || current == nil {
		t.Fatal(current, err)
	}
	if err := w.Write(t.Context(), current, operation(), n, Order{Permit: refitv1alpha1.PermitApply}, time.Now()); err != nil {
		t.Fatal(err)
	}
	got := stored(t, w)
	if got.Spec.Permit != refitv1alpha1.PermitApply || got.Spec.Sequence != 9 || got.OwnerReferences[0].UID != "uid-1" {
		t.Errorf("got %+v, owned by %+v", got.Spec, got.OwnerReferences)
	}
}

func TestOrderThatWasNotObservedIsNotReplaced(t *testing.T) {
	for name, tt := range map[string]struct {
		there    []client.Object
		observed *refitv1alpha1.NodeUpgrade
	}{
		"it was written since": {[]client.Object{order(refitv1alpha1.PermitHold, 9)}, order(refitv1alpha1.PermitApply, 8)},
		"it appeared since":    {[]client.Object{order(refitv1alpha1.PermitHold, 9)}, nil},
		"it is gone":           {nil, order(refitv1alpha1.PermitApply, 8)},
	} {
		current, err := writer(t, tt.there...).Current(t.Context(), worker(tt.observed))
		if err != nil || current != nil {
			t.Errorf("%s: %+v %v", name, current, err)
		}
	}
}

func TestOrderThatAnotherWriterGaveMeanwhileStays(t *testing.T) {
	before := order(refitv1alpha1.PermitPrefetch, 8)
	w, n := writer(t, before), worker(before)
	current, err := w.Current(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Hold(t.Context(), stored(t, w)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), current, operation(), n, Order{Permit: refitv1alpha1.PermitApply}, time.Now()); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	if got := stored(t, w); got.Spec.Permit != refitv1alpha1.PermitHold || got.Spec.Sequence != 9 {
		t.Errorf("got %+v", got.Spec)
	}
}
