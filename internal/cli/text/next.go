package text

import (
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Next has the commands that the user may run next.
type Next struct {
	Again   string // the same command once more
	Plan    string // the plan for the same target
	Upgrade string // carries the plan out; empty: that is what is about to happen
}

// next ends a page with the next commands.
func (w *writer) next(r *cliv1alpha1.Report, next Next) {
	if next.Upgrade == "" && !r.Blocked {
		return
	}
	w.section("Next")
	switch {
	case r.Blocked:
		w.para(2, as(plain, "Mend what stands in the way, then:"))
		w.command(next.Again)
		if waiver := waiverFor(r); waiver != "" {
			w.para(2, as(plain, "Or set a finding aside, by name and with a reason that is kept:"))
			w.command(next.Again + " --waive " + Quote(waiver))
		}
	case r.Kind == cliv1alpha1.KindCheck:
		w.para(2, as(plain, "See what would happen, in which order and for how long:"))
		w.command(next.Plan)
	default:
		w.para(2, as(plain, "Nothing has been changed. To carry this plan out:"))
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
