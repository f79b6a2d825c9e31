package v1alpha1

import "time"

// KindHostStatus is the kind of HostStatus.
const KindHostStatus = "HostStatus"

// HostStatus is the state of a host and of its last upgrade: the result of `refit-agent status`,
// and the document on the socket of the agent. It contains no secrets.
type HostStatus struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Node is empty until the agent knows the name of the Node.
	Node string `json:"node,omitempty"`
	// ObservedAt is when this was true.
	ObservedAt time.Time `json:"observedAt"`
	// Agent is the process that answered; absent if the document was read from files, whether or
	// not the agent runs.
	Agent *HostAgent `json:"agent,omitempty"`
	// Sequence and Epoch are the highest of the accepted orders.
	Sequence int64 `json:"sequence"`
	Epoch    int64 `json:"epoch"`

	// Phase is that of the last order: Idle, Prefetching, Prefetched, Applying, Succeeded, Failed,
	// RollingBack or RolledBack.
	Phase string `json:"phase"`
	// Upgrade is the one in progress, or the last one; absent if there was none.
	Upgrade *HostUpgrade `json:"upgrade,omitempty"`
	// Step is the step in progress, absent between two steps.
	Step *CurrentStep `json:"step,omitempty"`
	// Next is the step that comes next, absent while one is in progress or none follows.
	Next string `json:"next,omitempty"`
	// Waits is what the step waits for, or the next one.
	Waits string     `json:"waits,omitempty"`
	Steps []HostStep `json:"steps"` // the started ones, in order
	// Error is the last failure, or the one that caused the rollback.
	Error *ExplainError `json:"error,omitempty"`
	// Refusal is why the agent refuses the newest order.
	Refusal *HostRefusal `json:"refusal,omitempty"`
	// Unresumed is why an upgrade that changed the host was neither finished nor rolled back.
	Unresumed *HostFailure `json:"unresumed,omitempty"`
	Left      []string     `json:"left,omitempty"` // what the rollback left unchanged
	// Restore is the unfinished restore of etcd.
	Restore *HostRestore `json:"restore,omitempty"`
	// API is the connection of the agent to the API server, absent until it has written a status.
	API *HostAPI `json:"api,omitempty"`
}

// HostAgent is the process of an agent.
type HostAgent struct {
	Version   string    `json:"version"`
	PID       int       `json:"pid"`
	BootID    string    `json:"bootID,omitempty"`
	StartTime time.Time `json:"startTime"`
}

// HostUpgrade is an upgrade of a host, and the last order about it.
type HostUpgrade struct {
	Operation    string `json:"operation"`
	OperationUID string `json:"operationUID,omitempty"`
	Release      string `json:"release"`
	From         string `json:"from"`
	To           string `json:"to"`
	Role         string `json:"role"` // FirstControlPlane, ControlPlane, Worker
	Permit       string `json:"permit,omitempty"`
	Attempt      int64  `json:"attempt,omitempty"`
	Rollback     string `json:"rollback,omitempty"` // Auto or Manual
	// StartTime is that of the first change to the host under this order.
	StartTime      time.Time `json:"startTime,omitzero"`
	CompletionTime time.Time `json:"completionTime,omitzero"`
}

// CurrentStep is the step in progress.
type CurrentStep struct {
	Name      string    `json:"name"`
	StartTime time.Time `json:"startTime,omitzero"` // of the step, or of its undo
	Undo      bool      `json:"undo,omitempty"`
	// Deadline is when the step fails at the latest, absent if the document was read from files.
	Deadline time.Time `json:"deadline,omitzero"`
	// RollsBackAt is when the agent starts to roll back the host at the latest, without an order.
	// It is absent where a failure does not roll the host back, or the agent cannot know.
	RollsBackAt time.Time `json:"rollsBackAt,omitzero"`
}

// HostStep is a step that started.
type HostStep struct {
	Name               string    `json:"name"`
	State              string    `json:"state"` // Running, Done, Failed, Undone
	StartTime          time.Time `json:"startTime,omitzero"`
	CompletionTime     time.Time `json:"completionTime,omitzero"`
	UndoStartTime      time.Time `json:"undoStartTime,omitzero"`
	UndoCompletionTime time.Time `json:"undoCompletionTime,omitzero"`
}

// HostRefusal is why an agent refuses an order.
type HostRefusal struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// HostFailure is a failure that is not one of a step.
type HostFailure struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// HostRestore is an unfinished restore of etcd.
type HostRestore struct {
	Run       string       `json:"run"`
	Situation string       `json:"situation"` // Single, Replace, All
	Step      string       `json:"step,omitempty"`
	Canceling bool         `json:"canceling,omitempty"`
	Error     *HostFailure `json:"error,omitempty"`
}

// HostAPI is whether the agent could write its last status to the API.
type HostAPI struct {
	Reachable bool      `json:"reachable"`
	Since     time.Time `json:"since"` // when that changed
}

// The events in the stream of the agent's socket.
const (
	EventStatus    = "status"    // a HostStatus: the first one at once, then one for each change
	EventHeartbeat = "heartbeat" // a Heartbeat
)

// Heartbeat is an event in the stream of HostStatus documents: the last one is still current.
type Heartbeat struct {
	ObservedAt time.Time `json:"observedAt"`
}
