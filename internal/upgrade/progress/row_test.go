package progress_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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

func TestTheRowOfAChangedNodeHasItsVersionBefore(t *testing.T) {
	for name, test := range map[string]struct {
		controlPlane bool
		workersFrom  string
		phase        refitv1alpha1.NodePhase
		operation    string
		from         string
		rolledBack   bool
	}{
		"a control plane node":                {true, "v1.34.9", refitv1alpha1.NodeSucceeded, "u", "v1.35.4", false},
		"a worker of equal workers":           {false, "v1.35.4", refitv1alpha1.NodeSucceeded, "u", "v1.35.4", false},
		"a worker of workers that differ":     {false, "v1.34.9", refitv1alpha1.NodeSucceeded, "u", "", false},
		"a node that was rolled back":         {false, "v1.35.4", refitv1alpha1.NodeRolledBack, "u", "v1.35.4", true},
		"a node that waits":                   {false, "v1.35.4", refitv1alpha1.NodePrefetched, "u", "", false},
		"a node whose order is of another op": {false, "v1.35.4", refitv1alpha1.NodeSucceeded, "other", "", false},
	} {
		u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night", UID: "u"}}
		u.Status.Plan = &refitv1alpha1.PlanSummary{From: "v1.35.4", WorkersFrom: test.workersFrom, To: "v1.36.3"}
		order := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
		order.Spec.Operation.UID, order.Spec.Sequence, order.Status.ObservedSequence = types.UID(test.operation), 3, 3
		order.Status.Phase = test.phase
		row := progress.NewNodeRow("prod", "refit", progress.Known{Node: progress.Node{Name: "n", ControlPlane: test.controlPlane, Ready: true}, Order: order, Operation: u})
		if row.From != test.from || row.RolledBack != test.rolledBack {
			t.Errorf("%s: from %q, rolled back %v; want %q, %v", name, row.From, row.RolledBack, test.from, test.rolledBack)
		}
	}
}

// An aborted upgrade leaves nodes that were skipped. It cannot retry them.
func TestTheRemedyOfASkippedNodeIsAnotherUpgradeAfterAnAbort(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night", UID: "u"}}
	u.Status.Phase = refitv1alpha1.PhaseAborted
	u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: refitv1alpha1.ReasonAborted}}
	order := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	order.Spec.Operation.UID, order.Spec.Sequence = "u", 3
	order.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 3, Phase: refitv1alpha1.DrainSkipped}
	e := progress.NewExplanation("prod", "kubectl refit", progress.Known{Node: progress.Node{Name: "n", Ready: true}, Order: order, Operation: u})
	if e.State != cliv1alpha1.StateSkipped || e.Remedy != "Make the listed pods evictable, then start another upgrade" {
		t.Errorf("the node is %s, with the remedy %q", e.State, e.Remedy)
	}
}
