package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// A worker that joined is not in the total of the plan, but the stage waits for it.
func TestThePrefetchIsCompleteWithTheNodesThatJoined(t *testing.T) {
	spec := policy.Defaulted(refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}, Approval: refitv1alpha1.ApprovalNone})
	s := clustertest.Synthetic(12, 20, 1)
	for _, change := range []clustertest.Change{clustertest.Agents(), clustertest.Released("v1.36.3"), clustertest.WithOperation("upgrade", spec)} {
		change(s)
	}
	p, err := Make(s, spec)
	if err != nil {
		t.Fatal(err)
	}
	s.Operation.Plan = p.Summary()
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Upgrade = &cluster.Upgrade{
			Spec: refitv1alpha1.NodeUpgradeSpec{
				Operation: refitv1alpha1.Operation{UID: types.UID(s.Operation.UID)}, NodeUID: types.UID(n.UID), Sequence: 1,
				Release: *p.Hops[0].Release, Permit: refitv1alpha1.PermitPrefetch,
			},
			Status: refitv1alpha1.NodeUpgradeStatus{ObservedSequence: 1, Phase: refitv1alpha1.NodePrefetched},
		}
	}
	last := &s.Nodes[len(s.Nodes)-1]
	for _, phase := range []refitv1alpha1.NodePhase{refitv1alpha1.NodePrefetching, refitv1alpha1.NodePrefetched} {
		last.Upgrade.Status.Phase = phase
		stages := Next(p, s, clustertest.Now, nil).Stages
		if got, want := stages[0].Complete, phase == refitv1alpha1.NodePrefetched; p.Stages[0].Name != refitv1alpha1.StagePrefetch || got != want {
			t.Errorf("with a node that is %s: %+v", phase, stages)
		}
		if stages[len(stages)-1].Complete {
			t.Error("an operation that has not ended has completed its last stage")
		}
	}
}
