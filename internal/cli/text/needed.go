package text

import (
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// information writes the number of other findings, and all of them with wide.
func (w *writer) information(r *cliv1alpha1.Report, wide bool) {
	if r.Counts.Info == 0 {
		return
	}
	if wide {
		w.findings("Information", r.Findings, isInformation, wide)
		return
	}
	w.blank()
	w.para(0, as(dim, phrase.Count(r.Counts.Info, "informational finding")+" not shown; --wide lists every finding."))
}

// mostNeeded is the maximum length of the list of what is missing, unless wide.
const mostNeeded = 180

// needed writes what an upgrade still needs, such as agents, without which some checks have no
// result. It does not block a plan, so it takes few lines.
func (w *writer) needed(r *cliv1alpha1.Report, wide bool) {
	deferred := group(r.Findings, func(f *cliv1alpha1.Finding) bool { return f.Deferred && f.Waived == nil })
	if len(deferred) == 0 {
		return
	}
	w.section("Prerequisites")
	for _, g := range deferred {
		message := g[0].Message
		if !wide {
			message = clip(message, mostNeeded)
		}
		if n := len(g); n > 1 {
			message += " (and " + phrase.Number(n-1) + " more)"
		}
		w.para(2, as(plain, message))
		w.remedy(2, g[0].Remedy)
	}
}

// clip cuts a text between words.
func clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	cut := string(runes[:most])
	if space := strings.LastIndexByte(cut, ' '); space > 0 {
		cut = cut[:space]
	}
	return cut + " …"
}
