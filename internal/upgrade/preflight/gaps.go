package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// partUnreadable tells of what could not be read, and which checks have no answer for it. It is asked by Run itself, which knows these.
//
// What a person may not read blocks if safety depends on it. What is out of reach from where the reader stands never does:
// the controller in the cluster reads it again before it starts.
func partUnreadable(v *view, waiting map[cluster.Part][]string) []Finding {
	var found []Finding
	told := map[cluster.Part]bool{}
	for _, gap := range v.s.Gaps {
		if gap.Kind == cluster.GapAbsent || gap.Part == cluster.PartDeprecated || (gap.Object == "" && told[gap.Part]) {
			continue
		}
		if gap.Object != "" {
			found = append(found, oneUnreadable(gap)...)
			continue
		}
		told[gap.Part] = true
		ids := waiting[gap.Part]
		if gap.Part == cluster.PartReports {
			ids = hostChecks()
		}
		f := Finding{
			Check:    idPartUnreadable,
			Severity: Warn,
			Unknown:  true,
			Object:   string(gap.Part),
			Message:  fmt.Sprintf("the %s could not be read: %s", gap.Part, gap.Message),
		}
		if len(ids) > 0 {
			f.Message += ". Not answered: " + strings.Join(ids, ", ")
		}
		safety := gap.Part == cluster.PartNodes || slices.ContainsFunc(ids, func(id string) bool { return find(id).Safety() })
		if safety && gap.Kind != cluster.GapUnreachable {
			f.Severity = Block
		}
		switch gap.Kind {
		case cluster.GapForbidden:
			f.Remedy = "Ask for the right that the message names, or use a kubeconfig that has it."
		case cluster.GapUnreachable:
			f.Remedy = "Run the check from where it can be reached, such as a control plane node. " +
				"The controller in the cluster asks again before an upgrade starts."
		default:
			f.Remedy = "Run the check again. If it stays so, look at the API server's log."
		}
		found = append(found, f)
	}
	return found
}

// oneUnreadable tells of a single object. API servers have a check of their own.
func oneUnreadable(gap cluster.Gap) []Finding {
	if gap.Part == cluster.PartAPIServers {
		return nil
	}
	return []Finding{{
		Check:    idPartUnreadable,
		Severity: Warn,
		Unknown:  true,
		Object:   gap.Object,
		Message:  fmt.Sprintf("%s (%s) could not be read: %s", gap.Object, gap.Part, gap.Message),
		Remedy:   "See whether it is damaged, and look at it yourself before the upgrade.",
	}}
}
