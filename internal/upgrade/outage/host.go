package outage

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const (
	// maxAgentAge is how old the report of an agent may be: it sends a heartbeat every 5 s.
	maxAgentAge = 12 * time.Second
	// maxLag is how long before the outage the API server may have answered last. The time in
	// between is unknown.
	maxLag = 10 * time.Second
)

// host is what is known of a control plane host that an upgrade changes.
type host struct {
	node       string
	source     string
	observedAt time.Time

	phase refitv1alpha1.NodePhase
	step  string // in progress, empty between two steps
	undo  bool
	since time.Time // start of the step, or of its undo

	deadline    time.Time // when the step fails at the latest; zero if it is unknown
	rollsBackAt time.Time
	waits       string
	failedStep  string // empty if the agent has failed outside of a step
	failedAt    time.Time
	failure     string
	steps       []interval
}

// interval is the time of a step or of its undo. A zero end means that it is unknown or not over.
type interval struct {
	step       string
	undo       bool
	start, end time.Time
}

// hosts returns the control plane hosts that an upgrade changes. The report of the local agent
// replaces the last known state of its host, unless that is newer.
func hosts(in *Input) []host {
	var out []host
	for _, order := range in.Orders {
		if isActive(in.Operation, order) {
			out = append(out, fromOrder(order, in.ObservedAt))
		}
	}
	a := in.Agent
	if a == nil || a.Node == "" || a.Upgrade != nil && a.Upgrade.Role == string(refitv1alpha1.RoleWorker) {
		return out
	}
	same := func(h host) bool { return h.node == a.Node }
	if !isFresh(in) && !a.ObservedAt.After(in.ObservedAt) {
		return out
	}
	return append(slices.DeleteFunc(out, same), fromAgent(a, sourceOf(in)))
}

// isFresh reports whether the agent of this host has reported just now.
func isFresh(in *Input) bool {
	return in.Agent != nil && in.Now.Sub(in.Agent.ObservedAt) <= maxAgentAge
}

func sourceOf(in *Input) string {
	if isFresh(in) {
		return cliv1alpha1.SourceAgent
	}
	return cliv1alpha1.SourceLastKnown
}

// isActive reports whether an operation changes a control plane host, or is about to. The role is
// the controller's: the agent of a worker could report any step.
func isActive(u *refitv1alpha1.ClusterUpgrade, order *refitv1alpha1.NodeUpgrade) bool {
	return u != nil && !u.HasEnded() && order.Spec.Operation.UID == u.UID && slices.Contains(u.Status.Active, order.Name) &&
		order.Spec.Role != refitv1alpha1.RoleWorker
}

func fromOrder(order *refitv1alpha1.NodeUpgrade, observedAt time.Time) host {
	status := &order.Status
	out := host{node: order.Name, source: cliv1alpha1.SourceLastKnown, observedAt: observedAt, phase: status.Phase}
	changes := order.Spec.Permit == refitv1alpha1.PermitApply || order.Spec.Permit == refitv1alpha1.PermitRollback
	if status.ObservedSequence != order.Spec.Sequence || !changes {
		out.phase = refitv1alpha1.NodeApplying // the agent may have accepted this order since, or the next
		return out
	}
	out.step, out.undo = status.Step, status.Phase == refitv1alpha1.NodeRollingBack
	for _, s := range status.Steps {
		i := interval{step: s.Name, start: timeOf(s.StartTime), end: timeOf(s.CompletionTime)}
		out.steps = append(out.steps, i)
		if s.Name == status.Step {
			out.since = i.start // of an undo, the status has no time
		}
	}
	if e := status.Error; e != nil {
		out.failedStep, out.failedAt, out.failure = e.Step, e.At.UTC(), e.Message
	}
	if waiting := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionWaiting); waiting != nil && waiting.Status == metav1.ConditionTrue {
		out.waits = waiting.Message
	}
	return out
}

func fromAgent(a *cliv1alpha1.HostStatus, source string) host {
	out := host{
		node: a.Node, source: source, observedAt: a.ObservedAt, phase: refitv1alpha1.NodePhase(a.Phase), waits: a.Waits, steps: intervalsOf(a),
	}
	if s := a.Step; s != nil {
		out.step, out.undo, out.since, out.deadline, out.rollsBackAt = s.Name, s.Undo, s.StartTime, s.Deadline, s.RollsBackAt
	}
	if e := a.Error; e != nil {
		out.failedStep, out.failedAt, out.failure = e.Step, e.At, e.Message
	}
	return out
}

func intervalsOf(a *cliv1alpha1.HostStatus) (out []interval) {
	for _, s := range a.Steps {
		out = append(out, interval{step: s.Name, start: s.StartTime, end: s.CompletionTime})
		if !s.UndoStartTime.IsZero() {
			out = append(out, interval{step: s.Name, undo: true, start: s.UndoStartTime, end: s.UndoCompletionTime})
		}
	}
	return out
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
