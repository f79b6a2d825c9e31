package text

import (
	"fmt"
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// ExplainComponent renders the page of `refit components explain`.
func ExplainComponent(e *cliv1alpha1.ComponentExplanation, p Page, now time.Time) string {
	w := newWriter(p)
	w.para(0, as(bold, e.Name+":"), as(plain, e.Message))
	w.blank()
	if e.Owner != "" {
		w.fact("Installed", installedText(e.Installed))
	}
	w.fact("Owner", ownerText(&e.ComponentState))
	w.fact("Managed by", managedBy(&e.ComponentState))
	if e.Stalled != "" {
		w.hang("Stalled", red, gutter, as(plain, e.Stalled))
	}
	w.componentUpgrade(e.Upgrade, now)
	for i := range e.Offers {
		w.offer(&e.Offers[i])
	}
	if e.Outdated {
		w.section("Outdated")
		w.para(2, as(yellow, "The Component was changed, and refit-components has not computed its offers again yet."))
	}
	w.nextSteps(e.Next)
	return w.String()
}

func installedText(i *cliv1alpha1.InstalledComponent) string {
	if i == nil {
		return "no"
	}
	text := fmt.Sprintf("%s, as the Helm release %s/%s, revision %d", i.Version, i.Namespace, i.Release, i.Revision)
	if i.Pending {
		text += "; a newer revision is unfinished"
	}
	return text
}

func ownerText(s *cliv1alpha1.ComponentState) string {
	switch {
	case s.Owner == "":
		return "unknown"
	case s.Owner == string(refitv1alpha1.OwnerNone):
		return "none"
	case s.Owner == string(refitv1alpha1.OwnerHelm) && s.Adopt:
		return "somebody, with Helm; Refit takes it over with the next upgrade"
	case s.Owner == string(refitv1alpha1.OwnerHelm):
		return "somebody, with Helm; not adopted"
	}
	return s.Owner
}

// offer writes an offer with its problems.
func (w *writer) offer(o *cliv1alpha1.ComponentOffer) {
	if o.Action == string(refitv1alpha1.ActionRemove) {
		w.section("Removal", as(plain, "by an upgrade to a ClusterRelease without the component, as ClusterRelease "+o.Release+" defines it"))
	} else {
		w.section("Offer", as(plain, fmt.Sprintf("of ClusterRelease %s, on Kubernetes %s", o.Release, o.Kubernetes)))
	}
	switch {
	case o.Newer != "":
		w.para(2, as(plain, olderText(o)))
	case o.Action == string(refitv1alpha1.ActionNone):
		w.para(2, as(plain, o.Version+" is installed already"))
	case o.Changes == nil:
		w.para(2, as(plain, o.Action+" "+o.Version))
	default:
		w.para(2, as(plain, fmt.Sprintf("%s %s: creates %d, changes %d, deletes %d objects", o.Action, o.Version,
			o.Changes.Create, o.Changes.Change, o.Changes.Delete)))
	}
	if c := o.Changes; c != nil {
		for _, object := range c.Deletes {
			w.para(4, as(yellow, "deletes "+object))
		}
		if more := int(c.Delete) - len(c.Deletes); more > 0 {
			w.para(4, as(yellow, fmt.Sprintf("deletes %s more", phrase.Number(more))))
		}
		for i := range c.CRDs {
			w.para(4, as(plain, crdText(&c.CRDs[i])))
		}
	}
	w.problems(o.Problems)
}

// olderText is why an offer of an older version changes nothing.
func olderText(o *cliv1alpha1.ComponentOffer) string {
	return fmt.Sprintf("%s is older than %s, which is installed, and Refit does not downgrade", o.Version, o.Newer)
}

// problems writes what speaks against an offer, with the remedies.
func (w *writer) problems(problems []cliv1alpha1.ComponentProblem) {
	for i := range problems {
		p := &problems[i]
		label, style := "Block", red
		if !p.Blocks {
			label, style = "Warn", yellow
		}
		head := []run{as(bold, p.Reason)}
		if p.Object != "" {
			head = []run{as(bold, p.Reason+":"), as(plain, p.Object)}
		}
		w.hang("  "+label, style, findingIndent, head...)
		w.para(findingIndent, as(plain, p.Message))
		w.remedy(findingIndent, p.Remedy)
	}
}

// componentUpgrade writes the order, its steps and its failure.
func (w *writer) componentUpgrade(u *cliv1alpha1.ComponentProgress, now time.Time) {
	if u == nil {
		return
	}
	summary := fmt.Sprintf("%s %s for %s", u.Permit, u.Release, u.Operation)
	switch {
	case u.Refused != "":
		summary += ", refused: " + u.Refused
	case !u.Answered && u.Phase == "":
		summary += ", not observed by refit-components yet"
	default:
		summary += ", " + phaseWord(u.Phase) + lasted(u.StartTime, u.CompletionTime, now)
	}
	w.fact("Order", summary)
	if u.Waiting != "" {
		w.hang("Waiting", plain, gutter, as(yellow, u.Waiting))
	}
	w.freeze(u.Frozen, now)
	w.steps(interrupted(u), now, component.Words)
	if len(u.Left) > 0 {
		w.section("Not rolled back")
		for _, left := range u.Left {
			w.para(2, as(yellow, left))
		}
	}
	w.logTail(u.Error)
	if u.Error != nil {
		w.remedy(2, u.Error.Remedy)
	}
}

// interrupted returns the steps of an upgrade. A step that did not succeed, while nothing failed,
// was interrupted by a pause or an abort.
func interrupted(u *cliv1alpha1.ComponentProgress) []cliv1alpha1.ExplainStep {
	out := slices.Clone(u.Steps)
	for i := range out {
		if u.Error == nil && out[i].State == string(refitv1alpha1.StepFailed) {
			out[i].State = "Interrupted"
		}
	}
	return out
}

func (w *writer) freeze(f *cliv1alpha1.ComponentFreeze, now time.Time) {
	switch {
	case f == nil:
	case f.Lifted:
		w.fact("Freeze", "lifted at its limit, while a step was running")
	case now.After(f.Until):
		w.hang("Freeze", plain, gutter, as(red, fmt.Sprintf("in force for %s, %s past its limit", Clock(now.Sub(f.Since)), Clock(now.Sub(f.Until)))))
	default:
		w.hang("Freeze", plain, gutter, as(yellow, fmt.Sprintf("in force for %s, lifted within %s", Clock(now.Sub(f.Since)), Clock(f.Until.Sub(now)))))
	}
}

// nextSteps ends a page with commands to copy.
func (w *writer) nextSteps(steps []cliv1alpha1.NextStep) {
	if len(steps) == 0 {
		return
	}
	w.section("Next steps")
	for _, step := range steps {
		w.para(2, as(plain, step.Purpose+":"))
		w.command(step.Command)
	}
}
