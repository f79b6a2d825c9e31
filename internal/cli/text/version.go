package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Version renders the version of Refit.
func Version(v *cliv1alpha1.Version) string {
	out := fmt.Sprintf("Refit       %s\n", v.Version)
	if v.Commit != "" {
		out += fmt.Sprintf("Commit      %s\n", v.Commit)
	}
	out += fmt.Sprintf("Go          %s %s\n", v.Go, v.Platform)
	return out + fmt.Sprintf("Kubernetes  %s\n", strings.Join(v.Kubernetes, ", "))
}
