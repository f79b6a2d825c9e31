package verbs_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

// An operation whose plan has changed since it started continues once the changed plan is named.
func TestAChangedPlanIsApprovedByItsHash(t *testing.T) {
	started, changed := "sha256:"+strings.Repeat("0", 64), "sha256:"+strings.Repeat("1", 64)
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
	u.Status.Plan = &refitv1alpha1.PlanSummary{Hash: started, ProposedHash: changed}
	for _, other := range []string{"", started} {
		if _, err := verbs.Approve(verbs.Operation{ClusterUpgrade: u, Command: "refit"}, other); err == nil || !strings.Contains(err.Error(), changed) ||
			!strings.Contains(err.Error(), "kubectl get clusterupgrade night -o yaml | refit plan -f -") {
			t.Errorf("approve(%q) = %v, want an error that names %s", other, err, changed)
		}
	}
	d, err := verbs.Approve(verbs.Operation{ClusterUpgrade: u, Command: "refit"}, changed)
	if err != nil {
		t.Fatal(err)
	}
	if d.Change(&u.Spec); u.Spec.ApprovedPlan != changed {
		t.Errorf("approvedPlan is %q", u.Spec.ApprovedPlan)
	}
}
