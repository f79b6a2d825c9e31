package preflight

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// waive applies the waivers, and reports waivers that have no effect: somebody may rely on them.
func waive(findings []Finding, waivers []refitv1alpha1.Waiver) []Finding {
	used, refused := make([]bool, len(waivers)), make([]bool, len(waivers))
	for i := range findings {
		f := &findings[i]
		for w := range waivers {
			switch {
			case !applies(&waivers[w], f):
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
		findings = append(findings, ineffective(w, used[i], refused[i])...)
	}
	return findings
}

// applies reports whether a waiver names a finding.
func applies(w *refitv1alpha1.Waiver, f *Finding) bool {
	return w.Check == f.Check && (w.Object == f.Object || w.Object == "") && !tooBroad(w)
}

// tooBroad reports whether a waiver covers more than its author can know: everything that cannot be
// read at the time of the upgrade.
func tooBroad(w *refitv1alpha1.Waiver) bool { return w.Check == idPartUnreadable && w.Object == "" }

// ineffective reports a waiver that has no effect.
func ineffective(w refitv1alpha1.Waiver, used, refused bool) []Finding {
	remedy := "Remove the waiver: omit --waive, or delete it from spec.waivers."
	switch check := find(w.Check); {
	case tooBroad(&w):
		return []Finding{{
			Check:    idWaiverRefused,
			Severity: Warn,
			Object:   w.Check,
			Message: w.Check + " cannot be waived without an object: the waiver would cover every part that cannot be read, and every check " +
				"that needs it",
			Remedy: fmt.Sprintf("Set the object of the waiver to the part that `refit check` prints, such as %q.", cluster.PartHelm),
		}}
	case check.ID == "":
		return []Finding{{
			Check:    idWaiverUnused,
			Severity: Warn,
			Object:   w.Check,
			Message:  fmt.Sprintf("check %q does not exist, so its waiver has no effect", w.Check),
			Remedy:   "Use the name of the check that `refit check` prints.",
		}}
	case refused:
		why := "the upgrade is impossible, or it would break the cluster"
		if !check.Binding() {
			why = "a check that cannot be waived is unanswered without it"
		}
		return []Finding{{
			Check:    idWaiverRefused,
			Severity: Warn,
			Object:   w.Check,
			Message:  named(w) + " cannot be waived: " + why,
			Remedy:   "Fix the problem that the finding describes. " + remedy,
		}}
	case !used:
		return []Finding{{
			Check:    idWaiverUnused,
			Severity: Info,
			Object:   w.Check,
			Message:  fmt.Sprintf("the waiver for %s matches no finding", named(w)),
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

// find returns the check with this id, or the zero value.
func find(id string) Check {
	i := slices.IndexFunc(checks, func(c Check) bool { return c.ID == id })
	if i < 0 {
		return Check{}
	}
	return checks[i]
}
