package clusterupgrade

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

func TestAComponentIsOrderedOnlyForTheOperationThatWasObserved(t *testing.T) {
	ended := metav1.Condition{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue}
	now := metav1.Now()
	deleted := func(u *refitv1alpha1.ClusterUpgrade) { u.DeletionTimestamp, u.Finalizers = &now, []string{finalizer} }
	for situation, test := range map[string]struct {
		kind   plan.ActionKind
		change func(*refitv1alpha1.ClusterUpgrade)
		want   bool
	}{
		"as observed":                   {plan.ApplyComponent, func(*refitv1alpha1.ClusterUpgrade) {}, true},
		"it was paused since":           {plan.ApplyComponent, func(u *refitv1alpha1.ClusterUpgrade) { u.Generation++ }, false},
		"another leader has taken over": {plan.ApplyComponent, func(u *refitv1alpha1.ClusterUpgrade) { u.Status.Epoch++ }, false},
		"it has ended":                  {plan.ApplyComponent, func(u *refitv1alpha1.ClusterUpgrade) { u.Status.Conditions = []metav1.Condition{ended} }, false},
		"it is another one":             {plan.ApplyComponent, func(u *refitv1alpha1.ClusterUpgrade) { u.UID = "other" }, false},
		"it is being deleted":           {plan.ApplyComponent, deleted, false},
		"it is being deleted, and held": {plan.HoldComponent, deleted, true},
	} {
		t.Run(situation, func(t *testing.T) {
			observed := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1.36", UID: "op", Generation: 2}}
			observed.Status.Epoch = 4
			stored := observed.DeepCopy()
			test.change(stored)
			s := newScene(t, stored)
			action := plan.Action{Kind: test.kind, Reason: "it is next", Component: &plan.ComponentRequest{
				Name: "liqo", Permit: refitv1alpha1.PermitApply, Version: "v1.2.0", Action: refitv1alpha1.ActionUpgrade, Digest: "sha256:d",
			}}
			obs := &observation{
				operation: observed, snapshot: &cluster.Snapshot{Operation: &cluster.Operation{UID: "op"}}, now: time.Now(),
				Assessment: &assess.Assessment{Decision: plan.Decision{Actions: []plan.Action{action}}},
			}
			if err := s.Reconciler.execute(t.Context(), obs); err != nil {
				t.Fatal(err)
			}
			order := &refitv1alpha1.ComponentUpgrade{}
			err := s.Client.Get(t.Context(), types.NamespacedName{Name: "liqo"}, order)
			if (err == nil) != test.want {
				t.Fatalf("it is ordered: %t (%v), want %t", err == nil, err, test.want)
			}
			if test.want && (order.Spec.Epoch != 4 || order.Spec.Operation.UID != "op" || order.Spec.Version != "v1.2.0") {
				t.Errorf("the order is %+v", order.Spec)
			}
			if test.want && test.kind == plan.ApplyComponent {
				if event := <-s.recorder.Events; !strings.Contains(event, eventChangingComponent+" liqo: it is next") {
					t.Errorf("the event is %q", event)
				}
			}
		})
	}
}

func TestOrdersForComponentsCountForTheEpoch(t *testing.T) {
	order := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "liqo"}}
	order.Spec.Epoch = 41
	operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1.36", UID: "op"}}
	s := newScene(t, order, operation)
	s.Components = true
	if err := s.ensureEpoch(t.Context(), operation); err != nil || operation.Status.Epoch != 42 {
		t.Errorf("the epoch is %d, error %v", operation.Status.Epoch, err)
	}
}
