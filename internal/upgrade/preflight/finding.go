package preflight

import refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"

// Severity is how much a finding weighs.
type Severity string

// The severities.
const (
	Block Severity = "Block" // the upgrade does not start
	Warn  Severity = "Warn"  // it starts, and a person should know
	Info  Severity = "Info"
)

// Finding is one thing that a check saw.
type Finding struct {
	// Check is the check's id, which a waiver names.
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	// Unknown says that the fact could not be read, so nothing was seen either way.
	Unknown bool `json:"unknown,omitempty"`
	// Deferred says that the answer needs something that is not there yet, such as an agent on the host. Such a finding does not block `refit check`
	// and `refit plan`; an upgrade does not start before it is answered.
	Deferred bool `json:"deferred,omitempty"`
	// Binding says that no waiver sets the finding aside.
	Binding bool `json:"binding,omitempty"`
	// Object is what it is about: "PodDisruptionBudget shop/cart", "Node worker-3". Empty: the cluster.
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
	// Remedy is what a person can do about it, in one or two sentences or a command.
	Remedy string `json:"remedy"`
	// Waived is the waiver that sets the finding aside.
	Waived *refitv1alpha1.Waiver `json:"waived,omitempty"`
}

// Blocks says whether the finding keeps an upgrade from being planned for execution: it is a Block, nobody waived it, and it does not only wait for an agent.
func (f *Finding) Blocks() bool { return f.Severity == Block && f.Waived == nil && !f.Deferred }
