package main

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// An operation that began without approval, and whose plan a person has changed since, goes on once the changed plan is named.
func TestAChangedPlanIsApprovedByItsHash(t *testing.T) {
	began, changed := "sha256:"+strings.Repeat("0", 64), "sha256:"+strings.Repeat("1", 64)
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
	o := &cliv1alpha1.Operation{Doing: "The plan is no longer the one that was approved: it is " + changed + " now"}
	for _, other := range []string{"", began} {
		if _, err := approveChanged(u, o, other, "refit"); err == nil || !strings.Contains(err.Error(), "`refit approve night --plan HASH`") || !strings.Contains(err.Error(), changed) {
			t.Errorf("with %q it said %v", other, err)
		}
	}
	d, err := approveChanged(u, o, changed, "refit")
	if err != nil {
		t.Fatal(err)
	}
	if d.change(&u.Spec); u.Spec.ApprovedPlan != changed {
		t.Errorf("approved is %q", u.Spec.ApprovedPlan)
	}
}
