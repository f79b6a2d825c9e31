package preflight

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Severity is the effect of a finding on the upgrade.
type Severity string

// The severities.
const (
	Block Severity = "Block" // the upgrade does not start
	Warn  Severity = "Warn"  // it starts, but the operator should know
	Info  Severity = "Info"
)

// Finding is one problem that a check found.
type Finding struct {
	// Check is the id of the check; waivers refer to it.
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	// Unknown is set if the fact could not be observed, so the problem may or may not exist.
	Unknown bool `json:"unknown,omitempty"`
	// Deferred is set if the answer needs something that does not exist yet, such as an agent on
	// the host. A deferred finding does not block `refit check` and `refit plan`, but an upgrade
	// does not start until it is resolved.
	Deferred bool `json:"deferred,omitempty"`
	// Binding is set if the finding cannot be waived.
	Binding bool `json:"binding,omitempty"`
	// Object names the affected object: "PodDisruptionBudget shop/cart", "Node worker-3". It is
	// empty for the cluster.
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
	// Remedy is how to fix the problem, in one or two imperative sentences or a command.
	Remedy string `json:"remedy"`
	// ReportTime is when the agent observed the fact, by the API server's clock. Run sets it. It is
	// zero if the fact does not come from a NodeReport.
	ReportTime time.Time `json:"reportTime,omitzero"`
	// Waived is the waiver that applies to the finding.
	Waived *refitv1alpha1.Waiver `json:"waived,omitempty"`

	// live is set if a check of agents has the fact from elsewhere, such as a pod.
	live bool
}

// Blocks reports whether the finding keeps the upgrade from being planned for execution.
func (f *Finding) Blocks() bool { return f.Severity == Block && f.Waived == nil && !f.Deferred }
