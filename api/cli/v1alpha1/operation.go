package v1alpha1

import "time"

// The kinds of the documents about operations.
const (
	KindOperation = "Operation"
	KindChange    = "Change"
)

// Operation is the progress of an upgrade: the result of `refit status`, and a line for each change
// that `refit watch` and `refit upgrade` print with -o json.
type Operation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Name       string `json:"name"`
	// Phase is Planning, AwaitingApproval, Waiting, Running, Paused, Stalled, Aborting, Succeeded
	// or Aborted.
	Phase string `json:"phase"`
	Ended bool   `json:"ended"`

	// From is the version at the start, of the control plane or, with the scope Workers, of the
	// workers. It is empty until there is a plan.
	From string `json:"from,omitempty"`
	// To is a version, or the name of a ClusterRelease until there is a plan.
	To    string `json:"to"`
	Scope string `json:"scope"`

	StartTime      time.Time `json:"startTime"`
	CompletionTime time.Time `json:"completionTime,omitzero"`
	// Message is the current activity or what the operation waits for, and Since when that wait
	// began.
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Waiting is everything that the operation waits for, the most important first.
	Waiting []Wait `json:"waiting,omitempty"`
	// Reason is why the operation does not proceed, in one word, and Remedy what the user can do.
	// Both are empty where no intervention is required.
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`

	Plan         string `json:"plan,omitempty"`         // its hash
	ProposedPlan string `json:"proposedPlan,omitempty"` // the hash of a changed plan that needs approval
	ApprovedPlan string `json:"approvedPlan,omitempty"` // the hash that was approved
	Paused       bool   `json:"paused,omitempty"`       // spec.paused
	Aborted      bool   `json:"aborted,omitempty"`      // spec.aborted
	Retry        int64  `json:"retry,omitempty"`        // spec.retry

	Stages []StageProgress `json:"stages"`
	Nodes  NodeCounts      `json:"nodes"`
	// ComponentsOnly is true if the plan changes components and no node.
	ComponentsOnly bool            `json:"componentsOnly,omitempty"`
	Components     ComponentCounts `json:"components,omitzero"`
	// Active are the nodes in progress and, during prefetch, the first of those that fetch.
	Active   []NodeProgress `json:"active"`
	Failures []NodeFailure  `json:"failures"`
	// LeftSeconds is the remaining time by the plan's estimate, absent where there is none.
	LeftSeconds int64 `json:"leftSeconds,omitempty"`
	// UnreachableSince is when the API server became unreachable. All other fields are of that
	// moment.
	UnreachableSince time.Time `json:"unreachableSince,omitzero"`
	UnreachableError string    `json:"unreachableError,omitempty"`
}

// StageProgress is the progress of a stage.
type StageProgress struct {
	Name       string `json:"name"` // as in the status of a ClusterUpgrade
	Kubernetes string `json:"kubernetes,omitempty"`
	State      string `json:"state"` // Pending, InProgress, Done
	Total      int    `json:"total"`
	Done       int    `json:"done"`
}

// The states of a stage.
const (
	StagePending    = "Pending"
	StageInProgress = "InProgress"
	StageDone       = "Done"
)

// Wait is one thing that an operation waits for.
type Wait struct {
	Reason    string `json:"reason"`
	Node      string `json:"node,omitempty"`
	Component string `json:"component,omitempty"`
	Message   string `json:"message"`
	Remedy    string `json:"remedy,omitempty"`
	// ActionRequired is true if the wait does not end without manual intervention.
	ActionRequired bool      `json:"actionRequired,omitempty"`
	MoreNodes      int       `json:"moreNodes,omitempty"`
	Since          time.Time `json:"since,omitzero"`
}

// NodeCounts counts the nodes that the plan changes.
type NodeCounts struct {
	Total   int `json:"total"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// ComponentCounts counts the changes of components in the plan.
type ComponentCounts struct {
	Total int `json:"total"`
	Done  int `json:"done"`
}

// NodeProgress is the current activity on a node.
type NodeProgress struct {
	Node string `json:"node"`
	// Activity is one of the Activity constants.
	Activity string    `json:"activity"`
	Step     string    `json:"step,omitempty"`  // of the agent
	Since    time.Time `json:"since,omitzero"`  // start of the step or the drain
	Waits    string    `json:"waits,omitempty"` // what the step waits for
	// Remaining is the number of pods that are still to be evicted, Blockers what prevents that.
	Remaining int       `json:"remaining,omitempty"`
	Blockers  []Blocker `json:"blockers,omitempty"`
}

// The activities on a node.
const (
	ActivityPrefetch = "Prefetch" // prefetch files and images, without disruption
	ActivityCordon   = "Cordon"   // it was selected and is being cordoned
	ActivityDrain    = "Drain"    // its pods are evicted
	ActivityUpgrade  = "Upgrade"  // the agent upgrades the host
	ActivityRollBack = "RollBack" // the agent rolls the host back
	ActivityVerify   = "Verify"   // the host is done; the node is verified and uncordoned
	ActivityFailed   = "Failed"   // manual intervention is required
)

// Blocker is a pod that cannot be evicted.
type Blocker struct {
	Pod    string `json:"pod"`
	Reason string `json:"reason"`
	Waiver string `json:"waiver,omitempty"` // the check whose waiver lets the pod go; empty: no waiver does
	Object string `json:"object,omitempty"` // of that waiver
}

// NodeFailure is a node that failed, or a component.
type NodeFailure struct {
	Node      string `json:"node,omitempty"`
	Component string `json:"component,omitempty"`
	Class     string `json:"class"` // Transient, ManualIntervention, HostBroken
	Step      string `json:"step,omitempty"`
	Message   string `json:"message,omitempty"`
	Remedy    string `json:"remedy,omitempty"`
}

// Change is the result of `refit pause`, `resume`, `retry`, `abort` and `approve`.
type Change struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Operation  string `json:"operation"`
	Verb       string `json:"verb"`    // pause, resume, retry, abort, approve, waive, set pool
	Changed    bool   `json:"changed"` // false: nothing had to be changed
	// Message is the consequence, in a sentence.
	Message string `json:"message"`
	// Plan is the hash that was approved.
	Plan string `json:"plan,omitempty"`
}
