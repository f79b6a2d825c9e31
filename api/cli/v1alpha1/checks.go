package v1alpha1

// KindChecks is the kind of Checks.
const KindChecks = "Checks"

// Checks is the result of `refit check --list`: every preflight check that there is.
type Checks struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Checks     []KnownCheck `json:"checks"`
}

// KnownCheck describes a preflight check.
type KnownCheck struct {
	Name       string `json:"name"`
	Severity   string `json:"severity"` // the default severity of its findings
	Means      string `json:"means"`
	NeedsAgent bool   `json:"needsAgent,omitempty"` // at least in part
	NoWaiver   bool   `json:"noWaiver,omitempty"`
}
