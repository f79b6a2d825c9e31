package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Checks renders the list of checks, one per line.
func Checks(list *cliv1alpha1.Checks) string {
	widest := 0
	for _, check := range list.Checks {
		widest = max(widest, len(check.Name))
	}
	var b strings.Builder
	for _, check := range list.Checks {
		fmt.Fprintf(&b, "%-5s  %-*s  %s%s\n", check.Severity, widest, check.Name, check.Means, marks(check))
	}
	fmt.Fprintf(&b, "\n%d checks\n", len(list.Checks))
	return b.String()
}

func marks(check cliv1alpha1.KnownCheck) string {
	var out []string
	if check.NeedsAgent {
		out = append(out, "agent")
	}
	if check.NoWaiver {
		out = append(out, "no waiver")
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}
