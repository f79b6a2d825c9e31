package progress_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func TestTheRowOfANodeBeingDrainedCountsItsPods(t *testing.T) {
	start := metav1.NewTime(time.Date(2026, 11, 19, 3, 0, 0, 0, time.UTC))
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night", UID: "u"}}
	u.Status.Active = []string{"worker-1"}
	order := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	order.Spec.Operation, order.Spec.Sequence, order.Spec.Permit = refitv1alpha1.Operation{Name: "night", UID: "u"}, 2, refitv1alpha1.PermitHold
	order.Status.Drain = &refitv1alpha1.DrainStatus{
		Sequence: 2, Phase: refitv1alpha1.DrainBlocked, StartTime: &start, Remaining: 3, Blockers: []refitv1alpha1.Blocker{{Pod: "shop/cart"}},
	}
	row := progress.NewNodeRow("prod", "refit", progress.Known{Node: progress.Node{Name: "worker-1", Ready: true}, Order: order, Operation: u})
	want := cliv1alpha1.NodeRow{
		Node: "worker-1", Ready: true, State: cliv1alpha1.StateActive, Message: "The node is being drained, and pods block the drain.",
		Activity: cliv1alpha1.ActivityDrain, Since: start.Time, Remaining: 3, Blockers: 1,
	}
	if row != want {
		t.Errorf("row is %+v, want %+v", row, want)
	}
}
