package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Decision is the result of Next.
type Decision struct {
	State State
	// Actions can be executed now. Actions on different nodes are independent of each other.
	Actions []Action
	// Waiting is what the operation waits for, the most important first. It is empty only if there
	// is something to do or the operation has ended.
	Waiting []Wait
	// Message summarizes the decision in one sentence.
	Message string
	// Progress counts the nodes of the plan.
	Progress refitv1alpha1.NodeCounts
	// Stages is the progress of each stage of the plan.
	Stages []StageProgress
	// Failures are the component and the nodes that failed, by name.
	Failures []refitv1alpha1.Failure

	// LeftBehind is a sentence about the nodes that joined during the upgrade and could not be
	// upgraded, empty if there are none or the operation has not ended.
	LeftBehind string

	progressing bool // a node progresses without manual intervention
}

// State is the state of an operation.
type State string

// The states.
const (
	Running          State = "Running"          // it progresses
	AwaitingApproval State = "AwaitingApproval" // of its plan, or of a plan that changed
	Queued           State = "Queued"           // an older operation acts
	Paused           State = "Paused"           // by the user
	Stalled          State = "Stalled"          // manual intervention is required
	Aborting         State = "Aborting"         // nodes reach a safe state
	Succeeded        State = "Succeeded"
	Aborted          State = "Aborted"
)

// Ended reports whether nothing new will ever start. A cordon of the operation that appears later
// is still removed.
func (s State) Ended() bool { return s == Succeeded || s == Aborted }

// ActionKind is the kind of an action.
type ActionKind string

// The kinds of actions. Each is executed behind a fence, which its comment names; a decision on an
// old Snapshot fails there.
const (
	// RequestReport requests a fresh NodeReport by raising its spec.request, which only ever rises.
	RequestReport ActionKind = "RequestReport"
	// Prefetch orders the agent to fetch. Fence: epoch, sequence and resourceVersion of the
	// NodeUpgrade.
	Prefetch ActionKind = "Prefetch"
	// Claim adds the node to status.active. Fence: epoch and resourceVersion of the ClusterUpgrade.
	Claim ActionKind = "Claim"
	// Cordon cordons the node and marks the cordon. Fence: resourceVersion of the Node.
	Cordon ActionKind = "Cordon"
	// Drain starts a drain or continues it. Fence: resourceVersion of the NodeUpgrade, whose
	// status.drain is written first; evictions respect budgets by themselves.
	Drain ActionKind = "Drain"
	// Apply orders the agent to change the node. Fence: as Prefetch.
	Apply ActionKind = "Apply"
	// Rollback orders the agent to roll the node back. Fence: as Prefetch.
	Rollback ActionKind = "Rollback"
	// Hold orders the agent to do nothing. Fence: as Prefetch.
	Hold ActionKind = "Hold"
	// Skip records that the node was not drained and is upgraded later. Fence: as Drain.
	Skip ActionKind = "Skip"
	// FailDrain records that the node was not drained and the operation stalls. Fence: as Drain.
	FailDrain ActionKind = "FailDrain"
	// StartTrial starts a trial Pod on the node by writing status.trial. Fence: as Drain.
	StartTrial ActionKind = "StartTrial"
	// Uncordon removes a cordon of this operation. Fence: as Cordon.
	Uncordon ActionKind = "Uncordon"
	// Protect keeps autoscalers from removing the node; Cordon does so, too. Fence: as Cordon.
	Protect ActionKind = "Protect"
	// Unprotect lets autoscalers remove the node again; Uncordon does so, too. Fence: as Cordon.
	Unprotect ActionKind = "Unprotect"
	// ReleaseNode removes the node from status.active. Fence: as Claim.
	ReleaseNode ActionKind = "ReleaseNode"
	// CreateBackup creates the EtcdBackup of a hop. Fence: its name, which only one can have, and
	// epoch and generation of the ClusterUpgrade.
	CreateBackup ActionKind = "CreateBackup"
	// DeleteBackup deletes an EtcdBackup that has not ended. Fence: its UID.
	DeleteBackup ActionKind = "DeleteBackup"
	// ApplyComponent orders refit-components to change a component. Fence: epoch, sequence and
	// resourceVersion of the ComponentUpgrade, and epoch and generation of the ClusterUpgrade.
	ApplyComponent ActionKind = "ApplyComponent"
	// HoldComponent orders refit-components to start nothing new. Fence: as ApplyComponent.
	HoldComponent ActionKind = "HoldComponent"
	// Finish ends the operation as Succeeded or Aborted. Fence: as Claim.
	Finish ActionKind = "Finish"
)

// Action is one thing to do.
type Action struct {
	Kind    ActionKind
	Node    string
	Release *refitv1alpha1.ReleaseRef
	Role    refitv1alpha1.Role
	Attempt int64
	// KeepAddons means that this hop does not upgrade the add-ons.
	KeepAddons bool
	// NotAfter is when a change has to have started, zero if that does not matter.
	NotAfter time.Time
	// Request is the number of a RequestReport: the time in seconds.
	Request int64
	// Delete means that the drain may delete pods that a budget protects. Only the pool's policy
	// allows that, and only after the drain's timeout.
	Delete bool
	// Backup is the EtcdBackup of CreateBackup and DeleteBackup, which have no Node.
	Backup *BackupRequest
	// Component is the order of ApplyComponent and HoldComponent, which have no Node.
	Component *ComponentRequest
	Reason    string
}

// Subject is the node or the component of an action, empty if it has none.
func (a *Action) Subject() string {
	if a.Component != nil {
		return a.Component.Name
	}
	return a.Node
}

// Wait is something that the operation waits for.
type Wait struct {
	Reason    string // a reason constant of api/v1alpha1
	Node      string
	Component string
	Message   string
	Since     time.Time
	Until     time.Time // when the wait ends by itself, if that is known
	// ManualIntervention means that only the user, or a change from outside, can end the wait.
	ManualIntervention bool
	More               int // further nodes that wait for the same thing
	Remedy             string

	state State // of an operation that is held; only gates of HeldOperation set it
}
