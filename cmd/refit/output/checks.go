package output

import "github.com/refit-dev/refit/internal/upgrade/preflight"

// Checks is the answer of `refit checks`.
type Checks struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Checks     []KnownCheck `json:"checks"`
}

// KnownCheck is a check that there is.
type KnownCheck struct {
	Name       string `json:"name"`
	Severity   string `json:"severity"` // of its findings, unless one says otherwise
	Means      string `json:"means"`
	NeedsAgent bool   `json:"needsAgent,omitempty"` // at least in part
	NoWaiver   bool   `json:"noWaiver,omitempty"`
}

// NewChecks lists the checks in the order in which their findings are told.
func NewChecks() Checks {
	out := Checks{APIVersion: APIVersion, Kind: KindChecks}
	for _, check := range preflight.Checks() {
		out.Checks = append(out.Checks, KnownCheck{
			Name: check.ID, Severity: string(check.Severity), Means: check.Says, NeedsAgent: check.NeedsHost(), NoWaiver: check.Binding(),
		})
	}
	return out
}
