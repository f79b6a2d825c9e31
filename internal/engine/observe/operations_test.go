package observe

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestWhenThePlanWasApproved(t *testing.T) {
	then := metav1.NewTime(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC))
	for status, want := range map[metav1.ConditionStatus]time.Time{metav1.ConditionTrue: then.Time, metav1.ConditionFalse: {}, "": {}} {
		u := &refitv1alpha1.ClusterUpgrade{}
		if status != "" {
			u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionApproved, Status: status, LastTransitionTime: then}}
		}
		if got := operationOf(u).ApprovedAt; !got.Equal(want) {
			t.Errorf("Approved is %q since %s: approved at %s", status, then, got)
		}
	}
}
