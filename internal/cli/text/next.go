package text

import (
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Next has the commands that the user may run next.
type Next struct {
	Again   string // the same command once more
	Plan    string // the plan for the same target
	Upgrade string // starts the upgrade; empty if it is about to start, or the cluster was not read
}

// next ends a page with the next commands.
func (w *writer) next(r *cliv1alpha1.Report, next Next) {
	if !r.Blocked && r.Kind == cliv1alpha1.KindPlan && next.Upgrade == "" {
		return
	}
	w.section("Next steps")
	switch {
	case r.Blocked:
		w.para(2, as(plain, "Fix the findings that block, then run:"))
		w.command(next.Again)
		if waiver := waiverFor(r); waiver != "" {
			w.para(2, as(plain, "Or waive a finding, with a reason that is recorded:"))
			w.command(next.Again + " --waive " + alwaysQuote(waiver)) // the reason may have spaces
		}
	case r.Kind == cliv1alpha1.KindCheck:
		w.para(2, as(plain, "Show the plan:"))
		w.command(next.Plan)
	case r.Counts.Deferred > 0:
		w.para(2, as(plain, "Nothing has been changed. To start this upgrade once its prerequisites exist:"))
		w.command(next.Upgrade)
	default:
		w.para(2, as(plain, "Nothing has been changed. To start this upgrade:"))
		w.command(next.Upgrade)
	}
}

// command writes a command to copy, so it is never wrapped.
func (w *writer) command(line string) {
	w.out.WriteString("    ")
	w.paint(as(bold, Clean(line)))
	w.blank()
}

// waiverFor is the --waive argument for the first blocking finding that can be waived, empty if
// there is none.
func waiverFor(r *cliv1alpha1.Report) string {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Blocks && !f.Binding {
			name := f.Check
			if f.Object != "" {
				name += "/" + f.Object
			}
			return fmt.Sprintf("%s=REASON", name)
		}
	}
	return ""
}
