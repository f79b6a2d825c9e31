package output

import "time"

// KindExplanation is the kind of the answer of `refit explain`.
const KindExplanation = "Explanation"

// Explanation is the answer of `refit explain`: why a node is where it is in an upgrade.
type Explanation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Node       string `json:"node"`
	// State is Idle (no upgrade is under way), LeftOut, Waiting, AtWork, Refused, Failed, Skipped or Done.
	State string `json:"state"`
	// Says is why, in a sentence, and Remedy what a person can do, if anything.
	Says   string `json:"says"`
	Remedy string `json:"remedy,omitempty"`

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
	StateIdle    = "Idle"
	StateLeftOut = "LeftOut"
	StateWaiting = "Waiting"
	StateAtWork  = "AtWork"
	StateRefused = "Refused"
	StateFailed  = "Failed"
	StateSkipped = "Skipped"
	StateDone    = "Done"
)

// HostFacts is what is known of a node beside its upgrade.
type HostFacts struct {
	ControlPlane bool      `json:"controlPlane"`
	Kubelet      string    `json:"kubelet,omitempty"`
	Ready        bool      `json:"ready"`
	ReadySince   time.Time `json:"readySince,omitzero"` // when that last changed
	ReadySays    string    `json:"readySays,omitempty"` // why it is not
	// Cordon is empty, Refit or Other.
	Cordon string `json:"cordon,omitempty"`
	// Agent is the version of its agent, empty if it has none, and ReportedAt when that last told of the host.
	Agent      string    `json:"agent,omitempty"`
	ReportedAt time.Time `json:"reportedAt,omitzero"`
}

// Who cordoned a node.
const (
	CordonRefit = "Refit"
	CordonOther = "Other"
)

// ExplainOperation is the operation that a node waits for or belongs to.
type ExplainOperation struct {
	Name  string `json:"name"`
	Phase string `json:"phase"`
	To    string `json:"to"`
	Doing string `json:"doing,omitempty"`
}

// ExplainOrder is what a node's agent was ordered.
type ExplainOrder struct {
	Operation string `json:"operation"`
	Permit    string `json:"permit"` // Hold, Prefetch, Apply, Rollback
	Release   string `json:"release"`
	Attempt   int64  `json:"attempt,omitempty"`
	Answered  bool   `json:"answered"` // what the agent tells is about this order
	Phase     string `json:"phase,omitempty"`
}

// ExplainDrain is how a node was emptied.
type ExplainDrain struct {
	Phase      string    `json:"phase"`
	Remaining  int       `json:"remaining,omitempty"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	Blockers   []Blocker `json:"blockers,omitempty"`
}

// ExplainStep is a step of the agent.
type ExplainStep struct {
	Name       string    `json:"name"`
	State      string    `json:"state"` // Running, Done, Failed, Undone
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
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
