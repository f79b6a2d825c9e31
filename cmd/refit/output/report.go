package output

import "time"

// APIVersion is the version of everything that -o json and -o yaml print. Fields may be added to it; none is removed or changes its meaning.
const APIVersion = "cli.refit.dev/v1alpha1"

// The kinds of documents.
const (
	KindCheck   = "Check"
	KindPlan    = "Plan"
	KindVersion = "Version"
	KindChecks  = "Checks"
)

// Report is the answer of `refit check` and, with a plan in it, of `refit plan`.
type Report struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Cluster    Cluster `json:"cluster"`
	Request    Request `json:"request"`

	// Blocked says whether at least one finding blocks: the exit code is 3 then.
	Blocked  bool      `json:"blocked"`
	Counts   Counts    `json:"counts"`
	Findings []Finding `json:"findings"` // as weighty as they are: the first is what to look at first

	Plan *Plan `json:"plan,omitempty"`
}

// Cluster is what the answer speaks of.
type Cluster struct {
	Name    string    `json:"name"`
	UID     string    `json:"uid,omitempty"`
	Version string    `json:"version,omitempty"` // of the control plane
	TakenAt time.Time `json:"takenAt"`
	// Saved is the name of the file that the cluster was read from, empty if it was asked itself.
	Saved        string `json:"saved,omitempty"`
	ControlPlane int    `json:"controlPlaneNodes"`
	Workers      int    `json:"workerNodes"`
	Gaps         []Gap  `json:"gaps,omitempty"` // what could not be read
	Cost         Cost   `json:"cost"`
}

// Gap is a part of the cluster, or one object of it, that could not be read.
type Gap struct {
	Part    string `json:"part"`
	Object  string `json:"object,omitempty"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// Cost is what it took to read the cluster.
type Cost struct {
	Requests     int   `json:"requests"`
	Bytes        int64 `json:"bytes"`
	Pods         int   `json:"pods"`
	Milliseconds int64 `json:"milliseconds"`
}

// Request is what was asked for.
type Request struct {
	From  string `json:"from,omitempty"` // the control plane's version
	To    string `json:"to"`
	Scope string `json:"scope"`
}

// Counts counts what was found. Each finding counts once, but for unknown.
type Counts struct {
	Checks     int `json:"checks"`     // that were made and have an answer
	Unanswered int `json:"unanswered"` // checks that have none, or only for some of the nodes: a part could not be read, or an agent is missing
	Block      int `json:"block"`      // that block
	Deferred   int `json:"deferred"`   // that would block an upgrade, but wait for an agent on the host or for a Release
	Warn       int `json:"warn"`
	Info       int `json:"info"`
	Waived     int `json:"waived"`
	Unknown    int `json:"unknown"` // of all these: facts that could not be read
}

// Finding is one thing that a check saw.
type Finding struct {
	Check    string  `json:"check"`
	Severity string  `json:"severity"`          // Block, Warn, Info
	Blocks   bool    `json:"blocks,omitempty"`  // it really does: nobody waived it and it does not wait for an agent
	Binding  bool    `json:"binding,omitempty"` // no waiver sets it aside
	Unknown  bool    `json:"unknown,omitempty"` // the fact could not be read
	Deferred bool    `json:"deferred,omitempty"`
	Object   string  `json:"object,omitempty"` // empty: the cluster
	Message  string  `json:"message"`
	Remedy   string  `json:"remedy,omitempty"`
	Waived   *Waiver `json:"waived,omitempty"`
	More     int     `json:"more,omitempty"` // how many further findings of the same kind are left out after it (--wide leaves none out)
}

// Waiver is why a finding was set aside.
type Waiver struct {
	Object string `json:"object,omitempty"`
	Reason string `json:"reason"`
}
