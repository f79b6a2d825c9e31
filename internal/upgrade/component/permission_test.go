package component

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestPermissionOfAnOrder(t *testing.T) {
	const hash = "sha256:1"
	for want, change := range map[string]func(*refitv1alpha1.ClusterUpgrade){
		"":                 func(*refitv1alpha1.ClusterUpgrade) {},
		"OperationMissing": func(u *refitv1alpha1.ClusterUpgrade) { u.UID = "2" },
		"OperationAborted": func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Aborted = true },
		"OperationPaused":  func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Paused = true },
		"OperationEnded": func(u *refitv1alpha1.ClusterUpgrade) {
			u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
		},
		"OperationNotApproved": func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.ApprovedPlan = "sha256:2" },
	} {
		u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
		u.Spec.ApprovedPlan, u.Status.Plan = hash, &refitv1alpha1.PlanSummary{Hash: hash}
		change(u)
		got := Permission(refitv1alpha1.Operation{Name: "up", UID: "1"}, u)
		if got == nil && want != "" || got != nil && got.Reason != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	if got := Permission(refitv1alpha1.Operation{Name: "up", UID: "1"}, nil); got == nil || got.Reason != "OperationMissing" {
		t.Errorf("without a ClusterUpgrade: %+v", got)
	}
}
