package assess

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

func operating(changes ...clustertest.Change) *cluster.Snapshot {
	return ready(append([]clustertest.Change{clustertest.WithOperation("spring", to("v1.36.3"))}, changes...)...)
}

func aborted(s *cluster.Snapshot) { s.Operation.Spec.Aborted = true }

// active is an operation that has claimed a node, with its plan recorded.
func active(s *cluster.Snapshot) {
	p, err := plan.Make(s, s.Operation.Spec)
	if err != nil {
		panic(err)
	}
	s.Operation.Plan, s.Operation.Active = p.Summary(), []string{"cp-1"}
}

// permitted is an order of the operation to a node.
func permitted(permit refitv1alpha1.Permit) clustertest.Change {
	return func(s *cluster.Snapshot) {
		n := &s.Nodes[0]
		n.Upgrade = &cluster.Upgrade{Spec: refitv1alpha1.NodeUpgradeSpec{
			Operation: refitv1alpha1.Operation{UID: types.UID(s.Operation.UID)}, NodeUID: types.UID(n.UID), Permit: permit,
		}}
	}
}

func orderedComponent(s *cluster.Snapshot) {
	spec := refitv1alpha1.ComponentUpgradeSpec{Operation: refitv1alpha1.Operation{UID: types.UID(s.Operation.UID)}, Permit: refitv1alpha1.PermitApply}
	s.ComponentUpgrades = []cluster.ComponentUpgrade{{Name: "liqo", Spec: spec}}
}

func withoutBackup(s *cluster.Snapshot) {
	s.Operation.Spec.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckBackup, Reason: "the storage has snapshots"}}
}

func withoutAgents(s *cluster.Snapshot) {
	for i := range s.Nodes {
		s.Nodes[i].Report = nil
	}
}

func TestOperation(t *testing.T) {
	for situation, c := range map[string]struct {
		snapshot *cluster.Snapshot
		started  bool
		checked  bool
		blocking string
		state    plan.State
	}{
		"ready to start":                       {operating(), false, true, "", plan.Running},
		"a deferred finding blocks the start":  {operating(withoutAgents), false, true, "AgentMissing", plan.Stalled},
		"nothing blocks an abort":              {operating(withoutAgents, aborted), false, false, "", plan.Aborting},
		"a claimed node has started it":        {operating(active), true, false, "", plan.Running},
		"gates replace the checks":             {operating(withoutBackup, active, withoutAgents), true, false, "", plan.Stalled},
		"an ordered component has started it":  {operating(orderedComponent), true, false, "", plan.Running},
		"prefetching is no start":              {operating(permitted(refitv1alpha1.PermitPrefetch)), false, true, "", plan.Running},
		"a withdrawn order is no start":        {operating(permitted(refitv1alpha1.PermitHold)), false, true, "", plan.Running},
		"a node that was ordered to change":    {operating(permitted(refitv1alpha1.PermitApply)), true, false, "", plan.Running},
		"a node that was ordered to roll back": {operating(permitted(refitv1alpha1.PermitRollback)), true, false, "", plan.Running},
	} {
		t.Run(situation, func(t *testing.T) {
			a := Operation(c.snapshot, clustertest.Now)
			if a.PlanError != nil {
				t.Fatal(a.PlanError)
			}
			if a.Started != c.started || (a.Checks != nil) != c.checked {
				t.Errorf("started: %v, checked: %v; want %v, %v", a.Started, a.Checks != nil, c.started, c.checked)
			}
			blocking := ""
			if f := a.Blocking(); f != nil {
				blocking = f.Check
			}
			if blocking != c.blocking {
				t.Errorf("blocked by %q, want %q", blocking, c.blocking)
			}
			if a.Decision.State != c.state {
				t.Errorf("state is %s, want %s: %+v", a.Decision.State, c.state, a.Decision)
			}
		})
	}
}

func TestABlockedOperationIsStalledWithTheFindingAndItsRemedy(t *testing.T) {
	a := Operation(operating(withoutAgents), clustertest.Now)
	finding := a.Blocking()
	if len(a.Decision.Actions) > 0 {
		t.Errorf("it does something: %+v", a.Decision.Actions)
	}
	if a.Decision.Progress.Total != 5 {
		t.Errorf("it counts %+v: a gate of the planner did not decide", a.Decision.Progress)
	}
	w := a.Decision.Waiting[0]
	if w.Reason != refitv1alpha1.ReasonBlocked || !w.ManualIntervention || w.Message != "AgentMissing: "+finding.Message || w.Remedy != finding.Remedy {
		t.Errorf("it waits for %+v", w)
	}
}

func TestAnOperationWithoutAPlanIsStalled(t *testing.T) {
	unreachable := operating(func(s *cluster.Snapshot) { s.Operation.Spec.Target.Kubernetes = "v1.34.1" })
	unknown := operating(func(s *cluster.Snapshot) {
		s.Version, s.APIServers = "", nil
		for i := range s.Nodes {
			s.Nodes[i].Static, s.Nodes[i].Report = nil, nil
		}
	})
	for situation, c := range map[string]struct {
		snapshot *cluster.Snapshot
		remedy   string
	}{
		"the target cannot be reached": {unreachable, "Run `refit abort`, then start an upgrade to a version that can be reached: `refit upgrade --to VERSION`"},
		"no API server is known":       {unknown, "Check that the nodes and the API servers report their versions: `kubectl get nodes; kubectl get --raw /version`"},
	} {
		t.Run(situation, func(t *testing.T) {
			a := Operation(c.snapshot, clustertest.Now)
			if a.Plan != nil || a.PlanError == nil || a.Decision.State != plan.Stalled {
				t.Fatalf("%+v", a)
			}
			if got := a.Decision.Waiting[0].Remedy; got != c.remedy {
				t.Errorf("the remedy is %q, want %q", got, c.remedy)
			}
		})
	}
}

func TestAStartedOperationDecidesOnAnOutline(t *testing.T) {
	s := operating(active)
	if a := Operation(s, clustertest.Now); len(a.Plan.Pools) > 0 {
		t.Error("the plan is unchanged, and yet it was made with all of its nodes")
	}
	s.Operation.Plan.Hash = "sha256:another"
	if a := Operation(s, clustertest.Now); len(a.Plan.Pools) == 0 {
		t.Error("the plan has changed, and only an outline was made")
	}
}

// releaseDeleted is an operation whose ClusterRelease was deleted after it had claimed cp-1.
func releaseDeleted(order func(*refitv1alpha1.NodeUpgradeSpec, *refitv1alpha1.NodeUpgradeStatus)) *cluster.Snapshot {
	s := operating(active)
	s.Operation.Spec.Target = refitv1alpha1.Target{Release: s.Operation.Plan.Hops[0].Release.Name}
	n := &s.Nodes[0]
	u := &cluster.Upgrade{Spec: refitv1alpha1.NodeUpgradeSpec{
		Operation: refitv1alpha1.Operation{UID: types.UID(s.Operation.UID)}, NodeUID: types.UID(n.UID), Sequence: 2, Release: s.Operation.Plan.Hops[0].Release,
	}}
	u.Status.ObservedSequence = 2
	order(&u.Spec, &u.Status)
	n.Upgrade, n.CordonedBy, n.Unschedulable = u, s.Operation.UID, true
	s.Releases = nil
	return s
}

func TestAnOperationWithoutAPlanCanBeAborted(t *testing.T) {
	never := operating(aborted, func(s *cluster.Snapshot) { s.Operation.Spec.Target.Kubernetes = "v1.34.1" })
	prefetched := releaseDeleted(func(o *refitv1alpha1.NodeUpgradeSpec, s *refitv1alpha1.NodeUpgradeStatus) {
		o.Permit, s.Phase = refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched
	})
	failed := releaseDeleted(func(o *refitv1alpha1.NodeUpgradeSpec, s *refitv1alpha1.NodeUpgradeStatus) {
		o.Permit, s.Phase = refitv1alpha1.PermitApply, refitv1alpha1.NodeFailed
	})
	rolledBack := releaseDeleted(func(o *refitv1alpha1.NodeUpgradeSpec, s *refitv1alpha1.NodeUpgradeStatus) {
		o.Permit, s.Phase = refitv1alpha1.PermitRollback, refitv1alpha1.NodeRolledBack
	})
	for situation, c := range map[string]struct {
		snapshot *cluster.Snapshot
		want     plan.ActionKind
	}{
		"no path ever led to the target":           {never, plan.Finish},
		"a node is only drained":                   {prefetched, plan.Hold},
		"a node has failed and is partly changed":  {failed, plan.Rollback},
		"a node was rolled back and is still held": {rolledBack, plan.Uncordon},
	} {
		t.Run(situation, func(t *testing.T) {
			aborted(c.snapshot)
			a := Operation(c.snapshot, clustertest.Now)
			if a.PlanError == nil {
				t.Fatal("it has a plan")
			}
			if len(a.Decision.Actions) != 1 || a.Decision.Actions[0].Kind != c.want {
				t.Fatalf("decided %+v in state %s: %s; want %s", a.Decision.Actions, a.Decision.State, a.Decision.Message, c.want)
			}
			if action := a.Decision.Actions[0]; c.want == plan.Rollback && (action.Release == nil || *action.Release != c.snapshot.Nodes[0].Upgrade.Spec.Release) {
				t.Errorf("the order to roll back names %+v", action.Release)
			}
		})
	}
}

func TestAnOperationThatLostItsPlanFinishesItsActiveNodes(t *testing.T) {
	done := releaseDeleted(func(o *refitv1alpha1.NodeUpgradeSpec, s *refitv1alpha1.NodeUpgradeStatus) {
		o.Permit, s.Phase = refitv1alpha1.PermitRollback, refitv1alpha1.NodeRolledBack
	})
	a := Operation(done, clustertest.Now)
	if len(a.Decision.Actions) != 1 || a.Decision.Actions[0].Kind != plan.Uncordon {
		t.Errorf("decided %+v", a.Decision.Actions)
	}
	if w := a.Decision.Waiting; len(w) == 0 || !w[0].ManualIntervention || w[0].Reason != refitv1alpha1.ReasonBlocked {
		t.Errorf("it waits for %+v", w)
	}
}
