package preflight

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// waive sets findings aside as people asked, and tells of waivers that do nothing: somebody may count on them.
func waive(findings []Finding, waivers []refitv1alpha1.Waiver) []Finding {
	used := make([]bool, len(waivers))
	for i := range findings {
		f := &findings[i]
		for w := range waivers {
			if waivers[w].Check != f.Check || (waivers[w].Object != "" && waivers[w].Object != f.Object) {
				continue
			}
			used[w] = true
			if check := find(f.Check); f.Waived == nil && !check.Binding() {
				f.Waived = &waivers[w]
			}
		}
	}
	for i, w := range waivers {
		findings = append(findings, idle(w, used[i])...)
	}
	return findings
}

// idle tells of a waiver that sets nothing aside.
func idle(w refitv1alpha1.Waiver, used bool) []Finding {
	remedy := "Take the waiver out of spec.waivers."
	switch check := find(w.Check); {
	case check.ID == "":
		return []Finding{{
			Check:    idWaiverUnused,
			Severity: Warn,
			Object:   w.Check,
			Message:  fmt.Sprintf("there is no check %q: its waiver sets nothing aside", w.Check),
			Remedy:   "Write the check's name as `refit check` prints it.",
		}}
	case check.Binding() && used:
		return []Finding{{
			Check:    idWaiverRefused,
			Severity: Warn,
			Object:   w.Check,
			Message:  w.Check + " cannot be waived: going on would break the cluster, or is not possible",
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
