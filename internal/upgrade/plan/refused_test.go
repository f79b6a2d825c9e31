package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// An agent that refuses every order, as one that is too old, must not be sent orders without end.
func TestOrdersToAnAgentThatRefusesThemAllEnd(t *testing.T) {
	manual := spec(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Rollback = refitv1alpha1.RollbackManual })
	for name, tt := range map[string]struct {
		phase refitv1alpha1.NodePhase // of the host when its agent starts to refuse
		then  func(*storyRun)
		ends  State
	}{
		"aborted, the host is done":             {refitv1alpha1.NodeSucceeded, (*storyRun).abort, Aborted},
		"retried, the host is done":             {refitv1alpha1.NodeSucceeded, (*storyRun).retry, Stalled},
		"aborted, partly changed and unclaimed": {refitv1alpha1.NodeFailed, losesClaimsAndAborts, Stalled},
	} {
		t.Run(name, func(t *testing.T) {
			agent := refusingAgent{node: "worker-1"}
			fails := func(r *storyRun) bool { return tt.phase == refitv1alpha1.NodeFailed && applying("worker-1")(r) }
			s := story{name: "x", scenario: minor(shape(1, 2), manual), script: []scriptEvent{
				{fails, failsNextStep("worker-1")},
				{changedTo("worker-1", tt.phase), func(*storyRun) { agent.refuses = true }},
				{agent.refuse, nil},
				{later(5, is(Stalled)), tt.then},
			}}
			r := s.run("")
			if state := r.last.State; state != tt.ends || agent.refused > 4 || len(r.violations) > 0 {
				t.Errorf("it ends as %s %q, and %d orders were refused: %v", state, r.last.Message, agent.refused, r.violations)
			}
		})
	}
}

func changedTo(name string, phase refitv1alpha1.NodePhase) func(*storyRun) bool {
	return func(r *storyRun) bool {
		u := r.machine(name).upgrade
		return u != nil && u.Spec.Permit == refitv1alpha1.PermitApply && u.Status.Phase == phase && u.Status.ObservedSequence == u.Spec.Sequence
	}
}

func losesClaimsAndAborts(r *storyRun) {
	r.op.Active = nil
	r.op.version++
	r.abort()
}

// refusingAgent refuses the orders to a node and counts them.
type refusingAgent struct {
	node    string
	refuses bool
	last    int64
	refused int
}

func (a *refusingAgent) refuse(r *storyRun) bool {
	m := r.machine(a.node)
	if !a.refuses {
		return false
	}
	m.agent.stopped = true
	if m.upgrade.Spec.Sequence != a.last {
		a.last = m.upgrade.Spec.Sequence
		a.refused++
		m.upgradeVersion++
	}
	next := *m.upgrade
	next.Status.Conditions = nil
	meta.SetStatusCondition(&next.Status.Conditions, metav1.Condition{
		Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: node.RefusedFormat, Message: "upgrade the agent",
		ObservedGeneration: next.Generation, LastTransitionTime: metav1.NewTime(r.now),
	})
	m.upgrade = &next
	return false
}
