package progress

import (
	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// NewChecks lists the preflight checks in the order in which their findings are reported.
func NewChecks() cliv1alpha1.Checks {
	out := cliv1alpha1.Checks{APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindChecks}
	for _, check := range preflight.Checks() {
		out.Checks = append(out.Checks, cliv1alpha1.KnownCheck{
			Name: check.ID, Severity: string(check.Severity), Means: check.Description, NeedsAgent: check.NeedsAgent(), NoWaiver: check.Binding(),
		})
	}
	return out
}
