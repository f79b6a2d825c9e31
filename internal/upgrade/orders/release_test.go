package orders

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var now = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func orderFor(release string, permit refitv1alpha1.Permit, status metav1.ConditionStatus, reason string, observed int64) refitv1alpha1.NodeUpgrade {
	u := refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "worker-" + reason, Generation: 2}}
	u.Spec.Release.Name, u.Spec.Permit = release, permit
	u.Status.Conditions = []metav1.Condition{{
		Type: refitv1alpha1.ConditionAccepted, Status: status, Reason: reason, Message: "the signature is not valid",
		ObservedGeneration: observed, LastTransitionTime: metav1.NewTime(now),
	}}
	return u
}

func TestStatusOfARelease(t *testing.T) {
	const name = "v1.36.3"
	accepted := orderFor(name, refitv1alpha1.PermitPrefetch, metav1.ConditionTrue, refitv1alpha1.ReasonAccepted, 2)
	rejected := orderFor(name, refitv1alpha1.PermitPrefetch, metav1.ConditionFalse, refitv1alpha1.ReasonReleaseRefused, 2)
	for situation, c := range map[string]struct {
		orders             []refitv1alpha1.NodeUpgrade
		ready              metav1.ConditionStatus
		verified, rejected int32
	}{
		"no host has read it":        {nil, metav1.ConditionUnknown, 0, 0},
		"hosts have verified it":     {[]refitv1alpha1.NodeUpgrade{accepted, accepted}, metav1.ConditionTrue, 2, 0},
		"a host rejects it":          {[]refitv1alpha1.NodeUpgrade{accepted, rejected}, metav1.ConditionFalse, 1, 1},
		"orders for another one":     {[]refitv1alpha1.NodeUpgrade{orderFor("v1.37.1", refitv1alpha1.PermitApply, metav1.ConditionTrue, "Accepted", 2)}, metav1.ConditionUnknown, 0, 0},
		"an order to hold":           {[]refitv1alpha1.NodeUpgrade{orderFor(name, refitv1alpha1.PermitHold, metav1.ConditionTrue, "Accepted", 2)}, metav1.ConditionUnknown, 0, 0},
		"the answer to an old order": {[]refitv1alpha1.NodeUpgrade{orderFor(name, refitv1alpha1.PermitApply, metav1.ConditionTrue, "Accepted", 1)}, metav1.ConditionUnknown, 0, 0},
		"refused for other reasons":  {[]refitv1alpha1.NodeUpgrade{orderFor(name, refitv1alpha1.PermitApply, metav1.ConditionFalse, "StaleEpoch", 2)}, metav1.ConditionUnknown, 0, 0},
	} {
		r := &refitv1alpha1.ClusterRelease{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}
		UpdateRelease(r, c.orders, now.Add(time.Minute))
		ready := meta.FindStatusCondition(r.Status.Conditions, refitv1alpha1.ConditionReady)
		if ready.Status != c.ready || r.Status.VerifiedHosts != c.verified || r.Status.RejectedHosts != c.rejected {
			t.Errorf("%s: Ready=%s, %d verified, %d rejected", situation, ready.Status, r.Status.VerifiedHosts, r.Status.RejectedHosts)
		}
		if stalled := meta.IsStatusConditionTrue(r.Status.Conditions, refitv1alpha1.ConditionStalled); stalled != (c.rejected > 0) {
			t.Errorf("%s: Stalled is %v", situation, stalled)
		}
		if e := r.Status.LastError; (e != nil) != (c.rejected > 0) || e != nil && (e.Node != "worker-ReleaseRefused" || !e.Time.Time.Equal(now)) {
			t.Errorf("%s: lastError is %+v", situation, e)
		}
	}
}
