package preflight

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// waive applies the waivers, and reports waivers that have no effect: somebody may rely on them.
func (v *view) waive(findings []Finding, known *answers) []Finding {
	waivers := v.Spec.Waivers
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
		if found := ineffective(w, refused[i]); found != nil {
			findings = append(findings, *found)
		} else if !used[i] {
			findings = append(findings, v.unused(w, known))
		}
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

const removeWaiver = "Remove the waiver: omit --waive, or delete it from spec.waivers."

// ineffective reports a waiver that cannot have an effect, nil if it can.
func ineffective(w refitv1alpha1.Waiver, refused bool) *Finding {
	switch check := find(w.Check); {
	case tooBroad(&w):
		return &Finding{
			Check:    idWaiverRefused,
			Severity: Warn,
			Object:   w.Check,
			Message: w.Check + " cannot be waived without an object: the waiver would cover every part that cannot be read, and every check " +
				"that needs it",
			Remedy: fmt.Sprintf("Set the object of the waiver to the part that `refit check` prints, such as %q.", cluster.PartHelm),
		}
	case check.ID == "":
		return &Finding{
			Check:    idWaiverUnused,
			Severity: Warn,
			Object:   w.Check,
			Message:  fmt.Sprintf("check %q does not exist, so its waiver has no effect", w.Check),
			Remedy:   "Use the name of the check that `refit check` prints.",
		}
	case refused:
		why := "the upgrade is impossible, or it would break the cluster"
		if !check.Binding() {
			why = "a check that cannot be waived is unanswered without it"
		}
		return &Finding{
			Check:    idWaiverRefused,
			Severity: Warn,
			Object:   w.Check,
			Message:  named(w) + " cannot be waived: " + why,
			Remedy:   "Fix the problem that the finding describes. " + removeWaiver,
		}
	}
	return nil
}

// unused reports a waiver that matches no finding: somebody may rely on it, or it is left over and
// would apply to a later problem.
func (v *view) unused(w refitv1alpha1.Waiver, known *answers) Finding {
	f := Finding{Check: idWaiverUnused, Severity: Warn, Object: w.Check}
	wrong := WrongObject(w, v.s)
	switch {
	case wrong != nil:
		f.Message = fmt.Sprintf("the waiver for %s has no effect: %s", named(w), wrong)
		f.Remedy = "Name an object with its kind, as `refit check` prints it, such as \"Node worker-1\"."
	case w.Object != "" && !known.decide(w):
		f.Message = fmt.Sprintf("the waiver for %s matches no finding yet: its check has no answer for that object", named(w))
		f.Remedy = "Make sure that the object is spelled correctly, or run `refit check` again once every node has an agent."
	default:
		f.Message = fmt.Sprintf("the waiver for %s matches no finding", named(w))
		f.Remedy = removeWaiver
	}
	return f
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
