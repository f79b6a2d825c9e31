package text

import (
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// DiffComponent renders the page of `refit components diff`: a unified diff of each object.
func DiffComponent(d *cliv1alpha1.ComponentDiff, p Page) string {
	w := newWriter(p)
	for i := range d.Offers {
		o := &d.Offers[i]
		if i > 0 {
			w.blank()
		}
		w.para(0, as(bold, fmt.Sprintf("%s with ClusterRelease %s, on Kubernetes %s", d.Component, o.Release, o.Kubernetes)))
		w.offerDiff(o)
	}
	return w.String()
}

func (w *writer) offerDiff(o *cliv1alpha1.OfferDiff) {
	switch c := o.Changes; {
	case o.Newer != "":
		w.para(0, as(plain, fmt.Sprintf("Nothing changes: %s.", olderText(&o.ComponentOffer))))
	case o.Action == string(refitv1alpha1.ActionNone):
		w.para(0, as(plain, fmt.Sprintf("Nothing changes: %s is installed already.", o.Version)))
	case c != nil:
		w.para(0, as(plain, fmt.Sprintf("%s %s creates %d, changes %d, deletes %d objects. Secret and random values are masked.",
			o.Action, o.Version, c.Create, c.Change, c.Delete)))
	default:
		w.para(0, as(plain, fmt.Sprintf("The changes of %s cannot be computed.", o.Version)))
	}
	if o.Recorded != "" && o.Digest != "" {
		w.blank()
		w.para(0, as(yellow, fmt.Sprintf("The offer in the status of the Component is another one (%s, and not %s): something has changed since, "+
			"or refit-components computes it again. A plan has the offer in the status.", short(o.Recorded), short(o.Digest))))
	}
	for _, note := range o.Notes {
		w.blank()
		w.para(0, as(yellow, note))
	}
	if len(o.Problems) > 0 {
		w.blank()
		w.problems(o.Problems)
	}
	for i := range o.Objects {
		object := &o.Objects[i]
		w.section(changeWord(object.Change), as(bold, object.Object))
		w.diff(object.Diff)
	}
}

// changeWord is what happens to an object.
func changeWord(change string) string {
	return map[string]string{"Create": "Created:", "Change": "Changed:", "Delete": "Deleted:", "Keep": "Kept, although the chart no longer has it:"}[change]
}

// short is the beginning of a digest.
func short(digest string) string {
	const most = len("sha256:") + 12
	return digest[:min(len(digest), most)]
}

// Adopt renders the result of `refit components adopt`.
func Adopt(a *cliv1alpha1.Adoption, p Page) string {
	w := newWriter(p)
	w.para(0, as(plain, a.Message))
	if a.Installed != nil {
		w.blank()
		w.fact("Installed", installedText(a.Installed))
	}
	for i := range a.Offers {
		w.offer(&a.Offers[i])
	}
	w.nextSteps(a.Next)
	return w.String()
}
