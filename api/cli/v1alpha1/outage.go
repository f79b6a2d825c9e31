package v1alpha1

import "time"

// KindOutage is the kind of Outage.
const KindOutage = "Outage"

// Outage describes that no API server of the cluster responds, and whether the upgrade explains it.
type Outage struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Expected is true only if steps in progress restart every API server that does not respond.
	Expected bool `json:"expected"`
	// Cause is one of the Outage constants.
	Cause string    `json:"cause"`
	Since time.Time `json:"since"`
	Error string    `json:"error,omitempty"` // of the last request

	// Node is the control plane node whose step explains the outage, or may explain it.
	Node      string    `json:"node,omitempty"`
	Step      string    `json:"step,omitempty"`
	Undo      bool      `json:"undo,omitempty"` // the step is being undone
	StepSince time.Time `json:"stepSince,omitzero"`
	// Source is SourceAgent or SourceLastKnown, and ObservedAt when the step was in progress.
	Source     string    `json:"source,omitempty"`
	ObservedAt time.Time `json:"observedAt,omitzero"`
	// RollsBackAt is when the agent starts to roll back at the latest, if it has reported that.
	RollsBackAt time.Time `json:"rollsBackAt,omitzero"`
	// Until is the expected end, by how long the steps took on other nodes; absent without such.
	Until time.Time `json:"until,omitzero"`

	// Message is the conclusion, in a sentence.
	Message string `json:"message"`
	// Investigate is a command, and InvestigateOn the node to run it on. Both are empty if the
	// outage is expected.
	Investigate   string `json:"investigate,omitempty"`
	InvestigateOn string `json:"investigateOn,omitempty"`
}

// The causes of an outage.
const (
	OutageStep    = "Step"    // a step of the upgrade restarts the API server or etcd
	OutageFailure = "Failure" // a step that restarts them has failed
	OutageOther   = "Other"   // no step of the upgrade explains it
	OutageUnknown = "Unknown" // a step may explain it, or the state is too old
)

// The sources of what is known of a host during an outage.
const (
	SourceAgent     = "agent"
	SourceLastKnown = "last-known"
)
