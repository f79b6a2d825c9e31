package preflight

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// waive sets findings aside as people asked, and tells of waivers that do nothing: somebody may count on them.
func waive(findings []Finding, waivers []refitv1alpha1.Waiver) []Finding {
	used, refused := make([]bool, len(waivers)), make([]bool, len(waivers))
	for i := range findings {
		f := &findings[i]
		for w := range waivers {
			switch {
			case !meets(&waivers[w], f):
			case f.Binding:
				refused[w] = true
			default:
				used[w] = true
				if f.Waived == nil {
					f.Waived = &waivers[w]
				}
			}
		}
	}
	for i, w := range waivers {
		findings = append(findings, idle(w, used[i], refused[i])...)
	}
	return findings
}

// meets says whether a waiver speaks of a finding.
func meets(w *refitv1alpha1.Waiver, f *Finding) bool {
	return w.Check == f.Check && (w.Object == f.Object || w.Object == "") && !tooWide(w)
}

// tooWide says whether a waiver would set aside more than its author can know of: whatever cannot be read when it counts.
func tooWide(w *refitv1alpha1.Waiver) bool { return w.Check == idPartUnreadable && w.Object == "" }

// idle tells of a waiver that does not do what was asked.
func idle(w refitv1alpha1.Waiver, used, refused bool) []Finding {
	remedy := "Take the waiver out of spec.waivers."
	switch check := find(w.Check); {
	case tooWide(&w):
		return []Finding{{
			Check:    idWaiverRefused,
			Severity: Warn,
			Object:   w.Check,
			Message: w.Check + " cannot be waived as a whole: that would set aside whatever cannot be read on the day, and every check that " +
				"needs it",
			Remedy: fmt.Sprintf("Name the part in the waiver's object as `refit check` prints it, such as %q.", cluster.PartHelm),
		}}
	case check.ID == "":
		return []Finding{{
			Check:    idWaiverUnused,
			Severity: Warn,
			Object:   w.Check,
			Message:  fmt.Sprintf("there is no check %q: its waiver sets nothing aside", w.Check),
			Remedy:   "Write the check's name as `refit check` prints it.",
		}}
	case refused:
		why := "going on would break the cluster, or is not possible"
		if !check.Binding() {
			why = "a check that no waiver sets aside has no answer without it"
		}
		return []Finding{{
			Check:    idWaiverRefused,
			Severity: Warn,
			Object:   w.Check,
			Message:  named(w) + " cannot be waived: " + why,
			Remedy:   "Mend what the finding tells. " + remedy,
		}}
	case !used:
		return []Finding{{
			Check:    idWaiverUnused,
			Severity: Info,
			Object:   w.Check,
			Message:  fmt.Sprintf("the waiver of %s finds nothing to set aside", named(w)),
			Remedy:   remedy,
		}}
	}
	return nil
}

func named(w refitv1alpha1.Waiver) string {
	if w.Object == "" {
		return w.Check
	}
	return w.Check + " for " + w.Object
}

// find returns the check of this name, the zero value if there is none.
func find(id string) Check {
	i := slices.IndexFunc(checks, func(c Check) bool { return c.ID == id })
	if i < 0 {
		return Check{}
	}
	return checks[i]
}
