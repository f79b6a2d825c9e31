package verbs_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

func TestWaiveReplacesTheWaiverOfTheSameObject(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
	u.Spec.Waivers = []refitv1alpha1.Waiver{{Check: "SwapOn", Reason: "old"}, {Check: "SwapOn", Object: "Node a", Reason: "kept"}}
	o := verbs.Operation{ClusterUpgrade: u, Command: "refit"}
	d, err := verbs.Waive(o, refitv1alpha1.Waiver{Check: "SwapOn", Reason: "new"})
	if err != nil || !d.Exact || !strings.Contains(d.Message, "needs approval: `refit approve night`") {
		t.Fatalf("%+v, %v", d, err)
	}
	if d.Change(&u.Spec); len(u.Spec.Waivers) != 2 || u.Spec.Waivers[1].Reason != "new" {
		t.Errorf("waivers are %+v", u.Spec.Waivers)
	}
	if d, err := verbs.Waive(o, refitv1alpha1.Waiver{Check: "SwapOn", Reason: "new"}); err != nil || d.Change != nil {
		t.Errorf("the same waiver again: %+v, %v", d, err)
	}
}

func TestTheApprovalOfAChangedPlanNeedsItsHash(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
	u.Spec.ApprovedPlan = "sha256:" + strings.Repeat("0", 64)
	d, err := verbs.Waive(verbs.Operation{ClusterUpgrade: u, Command: "refit"}, refitv1alpha1.Waiver{Check: "SwapOn", Reason: "known"})
	if err != nil || strings.Contains(d.Message, "refit approve") || !strings.Contains(d.Message, "`refit status night` shows the command") {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestSetPool(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
	u.Spec.Pools = []refitv1alpha1.Pool{{Name: "gpu"}}
	o := verbs.Operation{ClusterUpgrade: u, Command: "refit"}
	for _, pool := range []string{"gpu", "default"} {
		d, err := verbs.SetPool(o, pool, intstr.FromString("10%"))
		if err != nil {
			t.Fatal(err)
		}
		d.Change(&u.Spec)
		if d, err := verbs.SetPool(o, pool, intstr.FromString("10%")); err != nil || d.Change != nil {
			t.Errorf("%s, the same value again: %+v, %v", pool, d, err)
		}
	}
	if len(u.Spec.Pools) != 2 || u.Spec.Pools[0].MaxUnavailable.String() != "10%" || u.Spec.Pools[1].MaxUnavailable.String() != "10%" {
		t.Errorf("pools are %+v", u.Spec.Pools)
	}
	if _, err := verbs.SetPool(o, "web", intstr.FromInt32(1)); err == nil || !strings.Contains(err.Error(), "its pools: default, gpu") {
		t.Errorf("an unknown pool: %v", err)
	}
}
