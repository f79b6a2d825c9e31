package text

import (
	"fmt"

	"github.com/refit-dev/refit/cmd/refit/output"
)

// Next is what a person may type after reading. A command that this build does not have is empty, and is not spoken of.
type Next struct {
	Again   string // the same command once more
	Plan    string // the plan for the same target
	Upgrade string // carries the plan out
}

// next ends a page with what to type.
func (w *writer) next(r *output.Report, next Next) {
	w.section("Next")
	switch {
	case r.Blocked:
		w.para(2, as(plain, "Mend what stands in the way, then:"))
		w.command(next.Again)
		if waiver := waiverFor(r); waiver != "" {
			w.para(2, as(plain, "Or set a finding aside, by name and with a reason that is kept:"))
			w.command(next.Again + " --waive " + Quote(waiver))
		}
	case r.Kind == output.KindCheck:
		w.para(2, as(plain, "See what would happen, in which order and for how long:"))
		w.command(next.Plan)
	case next.Upgrade != "":
		w.para(2, as(plain, "Nothing has been changed. To carry this plan out:"))
		w.command(next.Upgrade)
	default:
		w.para(2, as(plain, "Nothing has been changed. This version of Refit checks and plans; it cannot carry a plan out yet."))
	}
}

// command writes a line to be copied, so it is never wrapped.
func (w *writer) command(line string) {
	w.out.WriteString("    ")
	w.paint(as(bold, Clean(line)))
	w.blank()
}

// waiverFor is the argument that would set aside the first blocking finding that can be, empty if none can.
func waiverFor(r *output.Report) string {
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
