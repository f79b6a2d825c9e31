package v1alpha1

import (
	"slices"
	"time"
)

// APIVersion is the apiVersion of every document in this package.
const APIVersion = "cli.refit.dev/v1alpha1"

// The kinds of a Report.
const (
	KindCheck = "Check"
	KindPlan  = "Plan"
)

// Report is the result of `refit check` and, with a plan in it, of `refit plan`.
type Report struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Cluster    Cluster `json:"cluster"`
	Request    Request `json:"request"`

	// Blocked is true if at least one finding blocks. The exit code is 3 then.
	Blocked  bool      `json:"blocked"`
	Counts   Counts    `json:"counts"`
	Findings []Finding `json:"findings"` // sorted by severity, the most severe first

	Plan *Plan `json:"plan,omitempty"`
}

// CheckAlreadyAtTarget is the check that finds nothing to upgrade.
const CheckAlreadyAtTarget = "AlreadyAtTarget"

// Done is true if everything that the upgrade would change is at its target version already, so
// that no finding blocks it.
func (r *Report) Done() bool {
	if r.Plan != nil {
		return r.Plan.Done()
	}
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Check == CheckAlreadyAtTarget })
}

// Cluster is the cluster that a Report is about.
type Cluster struct {
	Name    string    `json:"name"`
	UID     string    `json:"uid,omitempty"`
	Version string    `json:"version,omitempty"` // of the control plane
	TakenAt time.Time `json:"takenAt"`
	// Saved is the name of the file that the Snapshot was read from, empty for a live cluster.
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

// Cost is the load that the observation put on the cluster.
type Cost struct {
	Requests     int   `json:"requests"`
	Bytes        int64 `json:"bytes"`
	Pods         int   `json:"pods"`
	Milliseconds int64 `json:"milliseconds"`
}

// Request is the upgrade that the Report is about.
type Request struct {
	From  string `json:"from,omitempty"` // the version of the control plane
	To    string `json:"to"`
	Scope string `json:"scope"`
	// Components is true for an upgrade of components alone, on the version of Kubernetes that
	// runs.
	Components bool `json:"components,omitempty"`
}

// Counts counts the findings. Each finding counts once, except in Unknown.
type Counts struct {
	Checks int `json:"checks"` // checks with a complete result
	// Unanswered counts checks without a result, or without one for some of the nodes, because a
	// part of the cluster could not be read or an agent is missing.
	Unanswered int `json:"unanswered"`
	Block      int `json:"block"` // findings that block
	// Deferred counts findings that would block an upgrade, but depend on an agent or a
	// ClusterRelease that is not there yet.
	Deferred int `json:"deferred"`
	Warn     int `json:"warn"`
	Info     int `json:"info"`
	Waived   int `json:"waived"`
	Unknown  int `json:"unknown"` // findings of all severities about a fact that could not be read
}

// Finding is one result of a preflight check.
type Finding struct {
	Check    string  `json:"check"`
	Severity string  `json:"severity"`          // Block, Warn, Info
	Blocks   bool    `json:"blocks,omitempty"`  // true if it is neither waived nor deferred
	Binding  bool    `json:"binding,omitempty"` // true if it cannot be waived
	Unknown  bool    `json:"unknown,omitempty"` // true if the fact could not be read
	Deferred bool    `json:"deferred,omitempty"`
	Object   string  `json:"object,omitempty"` // empty: the cluster
	Message  string  `json:"message"`
	Remedy   string  `json:"remedy,omitempty"`
	Waived   *Waiver `json:"waived,omitempty"`
	// ReportTime is when the agent of the node observed the fact, absent if the fact does not come
	// from a NodeReport.
	ReportTime time.Time `json:"reportTime,omitzero"`
	// More is the number of similar findings that are omitted after this one; --wide omits none.
	More int `json:"more,omitempty"`
}

// Waiver is why a finding was waived.
type Waiver struct {
	Object string `json:"object,omitempty"`
	Reason string `json:"reason"`
}
