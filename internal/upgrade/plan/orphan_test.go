package plan_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

func TestOrphan(t *testing.T) {
	exists := func(uid string) bool { return uid == "here" }
	order := func(permit refitv1alpha1.Permit, observed int64, phase refitv1alpha1.NodePhase) *cluster.Upgrade {
		return &cluster.Upgrade{
			Spec: refitv1alpha1.NodeUpgradeSpec{
				Operation: refitv1alpha1.Operation{UID: "gone"}, NodeUID: "n1-uid", Sequence: 7, Permit: permit, Release: refitv1alpha1.ReleaseRef{Name: "r"},
			},
			Status: refitv1alpha1.NodeUpgradeStatus{ObservedSequence: observed, Phase: phase},
		}
	}
	// another is an order of an operation that exists, to a host that the deleted one cordoned.
	another := func(permit refitv1alpha1.Permit, observed int64, phase refitv1alpha1.NodePhase, disrupted bool, reason string) *cluster.Upgrade {
		u := order(permit, observed, phase)
		u.Spec.Operation.UID = "here"
		if disrupted {
			u.Status.Steps = []refitv1alpha1.StepStatus{{Name: node.StepKubelet, State: refitv1alpha1.StepFailed}}
		}
		if reason != "" {
			u.Status.Error = &refitv1alpha1.NodeError{Reason: reason}
		}
		return u
	}
	later := order(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeApplying)
	later.Spec.Operation.UID = "gone-too"
	partly := order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeFailed)
	partly.Status.Steps = []refitv1alpha1.StepStatus{{Name: node.StepKubelet, State: refitv1alpha1.StepFailed}}
	refused := order(refitv1alpha1.PermitHold, 6, refitv1alpha1.NodePrefetched)
	refused.Generation = 3
	refused.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, ObservedGeneration: 3, Reason: "FormatUnknown"}}
	former := order(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeApplying)
	former.Spec.NodeUID = "n1-before"
	for situation, tt := range map[string]struct {
		node cluster.Node
		want plan.ActionKind
	}{
		"no cordon":                        {cluster.Node{}, ""},
		"a cordon of the user":             {cluster.Node{Unschedulable: true}, ""},
		"an operation that exists":         {cluster.Node{CordonedBy: "here"}, ""},
		"an operation that does not exist": {cluster.Node{CordonedBy: "gone"}, plan.Uncordon},
		"only prefetched":                  {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitPrefetch, 7, refitv1alpha1.NodePrefetched)}, plan.Uncordon},
		"ordered to change":                {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitApply, 6, refitv1alpha1.NodePrefetched)}, plan.Hold},
		"being changed":                    {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeApplying)}, plan.Hold},
		"being rolled back":                {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitRollback, 7, refitv1alpha1.NodeRollingBack)}, plan.Hold},
		"held, not yet accepted":           {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitHold, 6, refitv1alpha1.NodeApplying)}, ""},
		"held during a change":             {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeApplying)}, ""},
		"held during a rollback":           {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeRollingBack)}, ""},
		"held and changed":                 {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeSucceeded)}, plan.Uncordon},
		"held and failed":                  {cluster.Node{CordonedBy: "gone", Upgrade: order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeFailed)}, plan.Uncordon},
		"held, failed and partly changed":  {cluster.Node{CordonedBy: "gone", Upgrade: partly}, plan.KeepCordon},
		"held, and the agent refuses":      {cluster.Node{CordonedBy: "gone", Upgrade: refused}, plan.KeepCordon},
		"changed for another operation":    {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeApplying, true, "")}, ""},
		"to be changed for another":        {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitApply, 6, refitv1alpha1.NodePrefetched, false, "")}, ""},
		"failed for another":               {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeFailed, true, "")}, ""},
		"upgraded for another":             {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeSucceeded, true, "")}, plan.Uncordon},
		"rolled back for another":          {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitRollback, 7, refitv1alpha1.NodeRolledBack, false, "")}, plan.Uncordon},
		"prefetched for another":           {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitPrefetch, 7, refitv1alpha1.NodePrefetched, false, "")}, plan.Uncordon},
		"another has only ordered":         {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitPrefetch, 6, refitv1alpha1.NodeIdle, false, "")}, ""},
		"partly changed, another ordered":  {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitPrefetch, 6, refitv1alpha1.NodeFailed, true, "")}, plan.KeepCordon},
		"partly changed, another failed":   {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitPrefetch, 7, refitv1alpha1.NodeFailed, false, node.RefusedBusy)}, plan.KeepCordon},
		"finished under another's order":   {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitPrefetch, 7, refitv1alpha1.NodeApplying, true, "")}, ""},
		"prefetch of another failed":       {cluster.Node{CordonedBy: "gone", Upgrade: another(refitv1alpha1.PermitPrefetch, 7, refitv1alpha1.NodeFailed, false, "Download")}, plan.Uncordon},
		"another that is gone as well":     {cluster.Node{CordonedBy: "gone", Upgrade: later}, plan.Hold},
		"protected, not cordoned":          {cluster.Node{ProtectedBy: "gone"}, plan.Unprotect},
		"protected during a change":        {cluster.Node{ProtectedBy: "gone", Upgrade: order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeApplying)}, ""},
		"protected and ordered to change":  {cluster.Node{ProtectedBy: "gone", Upgrade: order(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeApplying)}, plan.Hold},
		"protected by one that exists":     {cluster.Node{CordonedBy: "gone", ProtectedBy: "here"}, plan.Uncordon},
		"an order for the former node":     {cluster.Node{CordonedBy: "gone", Upgrade: former}, plan.Uncordon},
	} {
		tt.node.Name, tt.node.UID = "n1", "n1-uid"
		got := plan.Orphan(&tt.node, exists)
		kind := plan.ActionKind("")
		if got != nil {
			kind = got.Kind
		}
		if kind != tt.want {
			t.Errorf("%s: %q", situation, kind)
		}
	}
}
