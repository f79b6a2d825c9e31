package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// The number of deleted objects and of CRDs that are listed for a component.
const (
	deletesShown = 4
	crdsShown    = 4
)

// components writes a row for each component of a stage, and what it changes.
func (t *table) components(stage *cliv1alpha1.Stage, wide bool) (folded bool) {
	for i := range stage.Components {
		c := &stage.Components[i]
		t.row(row{indent: nodeIndent, name: c.Name, time: roughly(c.Estimate), body: []run{as(plain, strings.Join(notesOfComponent(c), "; "))}})
		if c.Changes == nil {
			continue
		}
		deletes, crds := c.Changes.Deletes, c.Changes.CRDs
		if !wide {
			folded = folded || len(deletes) > deletesShown || len(crds) > crdsShown
			deletes, crds = deletes[:min(len(deletes), deletesShown)], crds[:min(len(crds), crdsShown)]
		}
		for _, object := range deletes {
			t.line(nodeIndent+2, as(yellow, "deletes "+object))
		}
		if more := int(c.Changes.Delete) - len(deletes); more > 0 && len(deletes) > 0 {
			t.line(nodeIndent+2, as(yellow, fmt.Sprintf("and %s more", phrase.Number(more))))
		}
		for _, crd := range crds {
			t.line(nodeIndent+2, as(plain, crdText(&crd)))
		}
		if more := len(c.Changes.CRDs) - len(crds); more > 0 {
			t.line(nodeIndent+2, as(plain, fmt.Sprintf("and %s more", phrase.Count(more, "CRD"))))
		}
	}
	return folded
}

func notesOfComponent(c *cliv1alpha1.Component) []string {
	notes := []string{componentMove(c)}
	if d := c.Changes; d != nil {
		notes = append(notes, fmt.Sprintf("creates %d, changes %d, deletes %d objects", d.Create, d.Change, d.Delete))
	} else {
		notes = append(notes, "its changes are computed before the stage")
	}
	if c.Reason != "" {
		notes = append(notes, c.Reason)
	}
	return notes
}

func componentMove(c *cliv1alpha1.Component) string {
	switch {
	case c.From == "":
		return "install " + c.To
	case c.To == "":
		return "remove " + c.From
	}
	return c.From + " → " + c.To
}

func crdText(crd *cliv1alpha1.CRDChange) string {
	text := fmt.Sprintf("CRD %s changes; %s checked", crd.Name, phrase.Count(int(crd.Objects), "object"))
	if crd.Storage != "" {
		text += "; objects are stored as " + crd.Storage
	}
	return text
}

// failedSubject is the node or the component that failed.
func failedSubject(f *cliv1alpha1.NodeFailure) string {
	if f.Component != "" {
		return "component " + f.Component
	}
	return f.Node
}

// failedAt is the step at which a node or a component failed, for the end of a phrase.
func failedAt(f *cliv1alpha1.NodeFailure) string {
	switch {
	case f.Step == "":
		return ""
	case f.Component != "":
		return " while " + component.Words(f.Step)
	}
	return " at " + f.Step
}
