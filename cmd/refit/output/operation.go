package output

import "time"

// The kinds of the answers about operations.
const (
	KindOperation = "Operation"
	KindChange    = "Change"
)

// Operation is how far an upgrade is: the answer of `refit status`, and a line for each change of `refit watch` and `refit upgrade` with -o json.
type Operation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Name       string `json:"name"`
	// Phase is Planning, AwaitingApproval, Waiting, Running, Paused, Stalled, Aborting, Succeeded or Aborted.
	Phase string `json:"phase"`
	Ended bool   `json:"ended"`

	From  string `json:"from,omitempty"` // the version at the beginning, the control plane's or with the scope Workers theirs; empty until it was planned
	To    string `json:"to"`             // a version, or the name of a Release until it was planned
	Scope string `json:"scope"`

	CreatedAt time.Time `json:"createdAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// Doing is what is happening or being waited for, since DoingSince.
	Doing      string    `json:"doing,omitempty"`
	DoingSince time.Time `json:"doingSince,omitzero"`
	// Reason is why it does not go on, in one word, and Remedy what a person can do: only where one is needed.
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`

	Plan         string `json:"plan,omitempty"`         // its hash
	ApprovedPlan string `json:"approvedPlan,omitempty"` // the hash that was approved
	Paused       bool   `json:"paused,omitempty"`       // as a person asked
	Aborted      bool   `json:"aborted,omitempty"`      // as a person asked
	Retry        int64  `json:"retry,omitempty"`        // how often a person asked to try again

	Stages []StageProgress `json:"stages"`
	Nodes  NodeCounts      `json:"nodes"`
	// Active are the nodes at work, and, while files are fetched, the first of those that do it.
	Active   []NodeProgress `json:"active"`
	Failures []NodeFailure  `json:"failures"`
	// LeftSeconds is how long it takes on by the plan's estimate; absent where that says nothing.
	LeftSeconds int64 `json:"leftSeconds,omitempty"`
	// AwaySince is since when the API does not answer: all else is as it was then.
	AwaySince time.Time `json:"awaySince,omitzero"`
	AwayError string    `json:"awayError,omitempty"`
}

// StageProgress is how far a stage of the plan is.
type StageProgress struct {
	Name       string `json:"name"` // Prefetch, ControlPlane, Workers, Verify
	Kubernetes string `json:"kubernetes,omitempty"`
	State      string `json:"state"` // Waiting, AtWork, Done
	Nodes      int    `json:"nodes"`
	Done       int    `json:"done"`
}

// The states of a stage.
const (
	StageWaiting = "Waiting"
	StageAtWork  = "AtWork"
	StageDone    = "Done"
)

// NodeCounts counts the nodes that the plan touches.
type NodeCounts struct {
	Total   int `json:"total"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// NodeProgress is what a node is doing now.
type NodeProgress struct {
	Node string `json:"node"`
	// Does is Fetch, Begin, Drain, Change, PutBack, Settle or Failed.
	Does  string    `json:"does"`
	Step  string    `json:"step,omitempty"`  // of the agent
	Since time.Time `json:"since,omitzero"`  // of the step or the drain
	Waits string    `json:"waits,omitempty"` // what the step waits for, or is busy with
	// Remaining is how many pods a drain has to move on, and Blockers what stands in its way.
	Remaining int       `json:"remaining,omitempty"`
	Blockers  []Blocker `json:"blockers,omitempty"`
}

// What a node is doing.
const (
	DoesFetch   = "Fetch"   // files and images, without disturbing anything
	DoesBegin   = "Begin"   // it was chosen, and is cordoned or asked
	DoesDrain   = "Drain"   // its pods move elsewhere
	DoesChange  = "Change"  // its agent changes the host
	DoesPutBack = "PutBack" // its agent puts the host back
	DoesSettle  = "Settle"  // the host is done; the node is looked at and uncordoned
	DoesFailed  = "Failed"  // it waits for a person
)

// Blocker is a pod that cannot leave a node.
type Blocker struct {
	Pod    string `json:"pod"`
	Reason string `json:"reason"`
}

// NodeFailure is a node that failed.
type NodeFailure struct {
	Node    string `json:"node"`
	Class   string `json:"class"` // Transient, NeedsPerson, HostBroken
	Step    string `json:"step,omitempty"`
	Message string `json:"message,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
}

// Change is the answer of pause, resume, retry, abort and approve.
type Change struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Operation  string `json:"operation"`
	Did        string `json:"did"`     // pause, resume, retry, abort, approve
	Changed    bool   `json:"changed"` // false: it was so already
	// Says is what follows from it.
	Says string `json:"says"`
	// Plan is the hash that was approved.
	Plan string `json:"plan,omitempty"`
}
