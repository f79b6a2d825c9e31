package hoststatus

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Known is what is known about a host. Only the host state is always known.
type Known struct {
	Host node.HostState
	// State is that of the last upgrade, nil if there was none.
	State *node.State
	// Status is the status of the last order as the running agent reports it; nil: derived from the
	// host state and the journal.
	Status *refitv1alpha1.NodeUpgradeStatus
	// Node is the name of the Node, if it is known without an upgrade.
	Node    string
	Agent   *cliv1alpha1.HostAgent   // nil if the facts were read from files
	Refusal *node.Refusal            // of the newest order, nil if it was accepted
	Waiting string                   // what the step waits for
	Step    StepDeadline             // of the step that the agent executes
	Restore *cliv1alpha1.HostRestore // nil if none is unfinished
	API     *cliv1alpha1.HostAPI
}

// StepDeadline is when a step fails at the latest, by the process that executes the step.
type StepDeadline struct {
	Step string
	At   time.Time
}

// New returns the document.
func New(k *Known, now time.Time) *cliv1alpha1.HostStatus {
	status := k.Status
	if status == nil {
		derived := statusOf(k.Host, k.State)
		status = &derived
	}
	out := &cliv1alpha1.HostStatus{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindHostStatus,
		Node: k.Node, ObservedAt: now.UTC(), Agent: k.Agent, Sequence: k.Host.Sequence, Epoch: k.Host.Epoch,
		Phase: string(status.Phase), Waits: clip(k.Waiting), Steps: []cliv1alpha1.HostStep{}, // never null
		Error: errorOf(status.Error), Unresumed: FailureOf(k.Host.Unresumed), Restore: k.Restore, API: k.API,
	}
	if out.Phase == "" {
		out.Phase = string(refitv1alpha1.NodeIdle)
	}
	if k.Refusal != nil {
		out.Refusal = &cliv1alpha1.HostRefusal{Reason: k.Refusal.Reason, Message: clip(k.Refusal.Message)}
	}
	if k.State != nil && k.State.Upgrade != nil {
		addUpgrade(out, k)
	}
	return out
}

// statusOf returns the status of the last order, as an agent that starts now would report it.
func statusOf(host node.HostState, state *node.State) refitv1alpha1.NodeUpgradeStatus {
	out, at := refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeIdle}, time.Time{}
	if state != nil {
		out, at = state.Status(), state.FinishedAt
	}
	if host.Result != nil {
		out, at = host.Result.Status(), host.Result.At
	}
	node.CorrectUnresumed(&out, host.Unresumed, at)
	return out
}

func addUpgrade(out *cliv1alpha1.HostStatus, k *Known) {
	s, u := k.State, k.State.Upgrade
	journaled := s.Status()
	if out.Node == "" {
		out.Node = u.NodeName
	}
	out.Upgrade = &cliv1alpha1.HostUpgrade{
		Operation: u.Operation.Name, OperationUID: string(u.Operation.UID), Release: u.Release.Name, From: u.From, To: u.To, Role: string(u.Role),
		Permit: string(s.Order.Permit), Attempt: s.Order.Attempt, Rollback: string(s.Order.Rollback),
		StartTime: timeOf(journaled.StartTime), CompletionTime: timeOf(journaled.CompletionTime),
	}
	for _, step := range journaled.Steps {
		start, end := s.Undone(step.Name)
		out.Steps = append(out.Steps, cliv1alpha1.HostStep{
			Name: step.Name, State: string(step.State), StartTime: timeOf(step.StartTime), CompletionTime: timeOf(step.CompletionTime),
			UndoStartTime: toSecond(start), UndoCompletionTime: toSecond(end),
		})
	}
	for _, text := range s.Left {
		out.Left = append(out.Left, node.Redact(text))
	}
	if broken(out.Phase, &journaled) {
		return // the agent does nothing, whatever the journal has open
	}
	if current, ok := s.Current(); ok {
		out.Step = stepOf(current, k)
	} else if next := s.Next(); slices.Contains([]node.MoveKind{node.MoveRun, node.MoveUndo}, next.Kind) {
		out.Next = next.Step.Name
	}
}

// broken reports whether the agent has failed outside of the steps of its journal.
func broken(phase string, journaled *refitv1alpha1.NodeUpgradeStatus) bool {
	return phase == string(refitv1alpha1.NodeFailed) && journaled.Phase != refitv1alpha1.NodeFailed
}

// stepOf returns the step in progress. A step that waits for something outside of the host may end
// without a rollback, so there is no promise then.
func stepOf(current node.Current, k *Known) *cliv1alpha1.CurrentStep {
	out := &cliv1alpha1.CurrentStep{Name: current.Step, StartTime: toSecond(current.Since), Undo: current.Undo}
	if k.Step.Step != current.Step {
		return out
	}
	out.Deadline = toSecond(k.Step.At)
	if k.Waiting == "" && k.State.RollsBack() {
		out.RollsBackAt = out.Deadline
	}
	return out
}

// FailureOf returns a failure without secrets, or nil.
func FailureOf(f *node.Failure) *cliv1alpha1.HostFailure {
	if f == nil {
		return nil
	}
	f = f.Persistent()
	return &cliv1alpha1.HostFailure{Reason: f.Reason, Message: f.Message, Remedy: f.Remedy}
}

// errorOf redacts again what the journal should have redacted: the socket is for others than root.
func errorOf(e *refitv1alpha1.NodeError) *cliv1alpha1.ExplainError {
	if e == nil {
		return nil
	}
	return &cliv1alpha1.ExplainError{
		Class: string(e.Class), Reason: e.Reason, Step: e.Step, Message: node.Redact(e.Message), Remedy: node.Redact(e.Remedy),
		LogTail: node.Redact(e.LogTail), At: e.At.UTC(),
	}
}

func clip(text string) string { return refitv1alpha1.Clip(node.Redact(text), refitv1alpha1.MaxMessage) }

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func toSecond(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Second)
}
