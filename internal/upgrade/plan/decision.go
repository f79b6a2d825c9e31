package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Decision is what Next decided.
type Decision struct {
	State State
	// Do is what can be done now. Actions on different nodes are independent of each other.
	Actions []Action
	// Waiting is what is being waited for, the most important first. It is never empty unless there is something to do or the operation has ended.
	Waiting []Wait
	// Doing is all that in one sentence.
	Message string
	// Progress counts the nodes that the plan touches.
	Progress refitv1alpha1.NodeCounts
	// Stages is the progress of each stage of the plan.
	Stages []StageProgress
	// Failures are the nodes that failed, by name.
	Failures []refitv1alpha1.Failure
}

// State is what an operation is, in one word.
type State string

// The states.
const (
	Running          State = "Running"          // something is done or under way
	AwaitingApproval State = "AwaitingApproval" // of the plan, or of a plan that changed
	Queued           State = "Queued"           // behind an older operation
	Paused           State = "Paused"           // by a person
	Stalled          State = "Stalled"          // it cannot go on without a person
	Aborting         State = "Aborting"         // nodes are being brought to a safe state
	Succeeded        State = "Succeeded"
	Aborted          State = "Aborted"
)

// Ended says whether nothing will ever be begun any more. A cordon of ours that turns up later is still lifted.
func (s State) Ended() bool { return s == Succeeded || s == Aborted }

// ActionKind is what to do.
type ActionKind string

// What can be done. Each is carried out behind a fence, which the comment names; a decision on an old Snapshot fails there.
const (
	RequestReport ActionKind = "RequestReport" // the node's agent for fresh facts: raise NodeReport.spec.request
	Prefetch      ActionKind = "Prefetch"      // order the agent to fetch: NodeUpgrade, epoch, sequence and resourceVersion
	Claim         ActionKind = "Claim"         // a slot: add the node to ClusterUpgrade.status.active, resourceVersion and epoch
	Cordon        ActionKind = "Cordon"        // the node, marked as ours: resourceVersion of the Node
	Drain         ActionKind = "Drain"         // or go on draining: write status.drain first (NodeUpgrade, resourceVersion), then evict, which holds the budgets
	Apply         ActionKind = "Apply"         // order the agent to change the node: NodeUpgrade, epoch, sequence and resourceVersion
	Rollback      ActionKind = "Rollback"      // order the agent to roll the node back: as Apply
	Hold          ActionKind = "Hold"          // order the agent to do nothing: as Apply
	Skip          ActionKind = "Skip"          // write down that the node could not be emptied and is left for later
	FailDrain     ActionKind = "FailDrain"     // write down that the node could not be emptied and that the operation stops for it
	StartTrial    ActionKind = "StartTrial"    // the node with a Pod: write status.trial (NodeUpgrade, resourceVersion), which lets it begin
	Uncordon      ActionKind = "Uncordon"      // the node, if the cordon is ours: resourceVersion of the Node
	ReleaseNode   ActionKind = "ReleaseNode"   // the slot: remove the node from status.active, resourceVersion and epoch
	Finish        ActionKind = "Finish"        // the operation: write Succeeded or Aborted
)

// Action is one thing to do.
type Action struct {
	Kind    ActionKind
	Node    string
	Release *refitv1alpha1.ReleaseRef
	Role    refitv1alpha1.Role
	Attempt int64
	// KeepAddons says that this hop leaves the add-ons as they are.
	KeepAddons bool
	Request    int64 // Ask: the number of the question, which is the time in seconds
	// Delete says that the drain may delete what a budget holds: the pool's policy after its timeout.
	Delete bool
	Reason string
}

// Wait is something that is being waited for.
type Wait struct {
	Reason  string // a reason constant of api/v1alpha1
	Node    string
	Message string
	Since   time.Time
	Until   time.Time // when the wait is over by itself, if that is known
	// Person says that only a person, or a change from outside, can end it.
	ManualIntervention bool
	More               int // further nodes that wait for the same thing
	Remedy             string

	state State // of an operation that is held; only gates of HeldOperation set it
}
