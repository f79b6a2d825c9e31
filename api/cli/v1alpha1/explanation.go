package v1alpha1

import "time"

// KindExplanation is the kind of Explanation.
const KindExplanation = "Explanation"

// Explanation is the result of `refit explain`: the state of a node in an upgrade, and why.
type Explanation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Node       string `json:"node"`
	// State is one of the State constants.
	State string `json:"state"`
	// Message is the reason for the state, in a sentence. Remedy is what the user can do, if
	// anything.
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`

	Host      HostFacts         `json:"host"`
	Operation *ExplainOperation `json:"operation,omitempty"`
	Order     *ExplainOrder     `json:"order,omitempty"` // the newest one, of whichever operation
	Progress  *NodeProgress     `json:"progress,omitempty"`
	Drain     *ExplainDrain     `json:"drain,omitempty"`
	Steps     []ExplainStep     `json:"steps,omitempty"`
	Error     *ExplainError     `json:"error,omitempty"`
}

// The states of a node in an upgrade.
const (
	StateIdle    = "Idle" // no upgrade is in progress
	StateLeftOut = "LeftOut"
	StateWaiting = "Waiting"
	StateActive  = "Active"
	StateRefused = "Refused"
	StateFailed  = "Failed"
	StateSkipped = "Skipped"
	StateDone    = "Done"
)

// HostFacts is the state of a node apart from its upgrade.
type HostFacts struct {
	ControlPlane bool      `json:"controlPlane"`
	Kubelet      string    `json:"kubelet,omitempty"`
	Ready        bool      `json:"ready"`
	ReadySince   time.Time `json:"readySince,omitzero"`    // when Ready last changed
	ReadyMessage string    `json:"readyMessage,omitempty"` // why it is not ready
	// Cordon is empty, CordonRefit or CordonOther.
	Cordon string `json:"cordon,omitempty"`
	// Agent is the version of the agent, empty if there is none. ReportedAt is the time of the
	// agent's last report.
	Agent      string    `json:"agent,omitempty"`
	ReportedAt time.Time `json:"reportedAt,omitzero"`
}

// The values of HostFacts.Cordon.
const (
	CordonRefit = "Refit"
	CordonOther = "Other"
)

// ExplainOperation is the operation that a node belongs to.
type ExplainOperation struct {
	Name    string `json:"name"`
	Phase   string `json:"phase"`
	To      string `json:"to"`
	Message string `json:"message,omitempty"`
}

// ExplainOrder is the newest order to the node's agent.
type ExplainOrder struct {
	Operation string `json:"operation"`
	Permit    string `json:"permit"` // Hold, Prefetch, Apply, Rollback
	Release   string `json:"release"`
	Attempt   int64  `json:"attempt,omitempty"`
	Answered  bool   `json:"answered"` // the agent's status is about this order
	Phase     string `json:"phase,omitempty"`
}

// ExplainDrain is the state of a node's drain.
type ExplainDrain struct {
	Phase          string    `json:"phase"`
	Remaining      int       `json:"remaining,omitempty"`
	StartTime      time.Time `json:"startTime,omitzero"`
	CompletionTime time.Time `json:"completionTime,omitzero"`
	Blockers       []Blocker `json:"blockers,omitempty"`
}

// ExplainStep is the state of one of the agent's steps.
type ExplainStep struct {
	Name           string    `json:"name"`
	State          string    `json:"state"` // Running, Done, Failed, Undone
	StartTime      time.Time `json:"startTime,omitzero"`
	CompletionTime time.Time `json:"completionTime,omitzero"`
}

// ExplainError is why a node failed.
type ExplainError struct {
	Class   string    `json:"class"`
	Reason  string    `json:"reason"`
	Step    string    `json:"step,omitempty"`
	Message string    `json:"message"`
	Remedy  string    `json:"remedy"`
	LogTail string    `json:"logTail,omitempty"`
	At      time.Time `json:"at"`
}
