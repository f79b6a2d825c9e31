package text

import (
	"slices"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// The layout of findings: the column of their text, and the number of objects of one check
// before the rest is folded.
const (
	findingIndent = 9
	objectsShown  = 3
)

func isBlocking(f *cliv1alpha1.Finding) bool { return f.Blocks }

func isWaived(f *cliv1alpha1.Finding) bool { return f.Waived != nil }

func isWarning(f *cliv1alpha1.Finding) bool {
	return f.Waived == nil && !f.Deferred && f.Severity == "Warn"
}

func isInformation(f *cliv1alpha1.Finding) bool {
	return f.Waived == nil && !f.Deferred && f.Severity == "Info"
}

// findings writes a section with the selected findings, nothing if there are none.
func (w *writer) findings(title string, all []cliv1alpha1.Finding, chosen func(*cliv1alpha1.Finding) bool, wide bool) {
	groups := group(all, chosen)
	if len(groups) == 0 {
		return
	}
	w.section(title)
	for _, g := range groups {
		w.blank()
		w.group(g, wide)
	}
}

// group groups the findings by check, in the order in which each check first occurs.
func group(all []cliv1alpha1.Finding, chosen func(*cliv1alpha1.Finding) bool) [][]*cliv1alpha1.Finding {
	var groups [][]*cliv1alpha1.Finding
	for i := range all {
		f := &all[i]
		if !chosen(f) {
			continue
		}
		at := slices.IndexFunc(groups, func(g []*cliv1alpha1.Finding) bool {
			return g[0].Check == f.Check && g[0].Unknown == f.Unknown && g[0].Severity == f.Severity
		})
		if at < 0 {
			groups, at = append(groups, nil), len(groups)
		}
		groups[at] = append(groups[at], f)
	}
	return groups
}

// group writes the findings of one check. Text that they have in common is written once.
func (w *writer) group(g []*cliv1alpha1.Finding, wide bool) {
	first := g[0]
	oneRemedy := same(g, func(f *cliv1alpha1.Finding) string { return f.Remedy })
	alike := first.Waived == nil && same(g, func(f *cliv1alpha1.Finding) string { return f.Message })

	head := []run{as(bold, first.Check+":")}
	switch most := objectsShown; {
	case alike && (len(g) > 1 || first.Object != ""):
		if wide {
			most = len(g)
		}
		head = append(head, as(plain, foldMore(g, most)))
	case len(g) > 1:
		head = append(head, as(plain, phrase.Count(len(g), "finding")))
	default:
		head = append(head, as(plain, nameOf(first)))
	}
	if age := w.reported(g...); age != "" && (alike || len(g) == 1) {
		head = append(head, as(dim, "("+age+")"))
	}
	if first.Unknown {
		head = append(head, as(dim, "(could not be observed)"))
	}
	if first.Blocks && first.Binding {
		head = append(head, as(dim, "(no waiver possible)"))
	}
	label, style := labelOf(first)
	w.hang("  "+label, style, findingIndent, head...)

	if alike {
		w.para(findingIndent, as(plain, first.Message))
	} else {
		w.objects(g, wide, !oneRemedy)
	}
	if oneRemedy && first.Waived == nil {
		w.remedy(findingIndent, first.Remedy)
	}
}

// objects writes the findings of one check that differ. Text that one shares with the next is
// written once.
func (w *writer) objects(g []*cliv1alpha1.Finding, wide, remedies bool) {
	shown, indent := g, findingIndent
	if !wide && len(g) > objectsShown {
		shown = g[:objectsShown]
	}
	for i, f := range shown {
		if len(g) > 1 {
			indent = findingIndent + 2
			if i == 0 || shown[i-1].Object != f.Object {
				name := []run{as(bold, nameOf(f))}
				if age := w.reported(f); age != "" {
					name = append(name, as(dim, "("+age+")"))
				}
				w.para(findingIndent, name...)
			}
		}
		w.para(indent, as(plain, f.Message))
		last := i == len(shown)-1 || shown[i+1].Object != f.Object || shown[i+1].Remedy != f.Remedy
		switch {
		case f.Waived != nil:
			w.para(indent, as(dim, "waived: "+f.Waived.Reason))
		case remedies && last:
			w.remedy(indent, f.Remedy)
		}
	}
	switch more := g[len(shown):]; {
	case len(more) == 0:
	case len(more) <= objectsShown:
		w.para(findingIndent, as(plain, "and "+phrase.List(objectsOf(more))))
	default:
		w.para(findingIndent, as(dim, "and "+phrase.Number(len(more))+" more"))
	}
}

// oldReport is the age from which findings show the age of the NodeReport that they come from.
const oldReport = 5 * time.Minute

// reported is the age of the oldest NodeReport of the findings, empty if none is old.
func (w *writer) reported(findings ...*cliv1alpha1.Finding) string {
	var times []time.Time
	for _, f := range findings {
		if !f.ReportTime.IsZero() {
			times = append(times, f.ReportTime)
		}
	}
	if len(times) == 0 || w.now.IsZero() {
		return ""
	}
	age := w.now.Sub(slices.MinFunc(times, time.Time.Compare))
	oldest, newest := phrase.Duration(age), phrase.Duration(w.now.Sub(slices.MaxFunc(times, time.Time.Compare)))
	switch {
	case age < oldReport:
		return ""
	case oldest != newest:
		return "reported up to " + oldest + " ago"
	}
	return "reported " + oldest + " ago"
}

func (w *writer) remedy(indent int, remedy string) {
	if remedy != "" {
		w.hang(strings.Repeat(" ", indent)+"→", green, indent+2, as(plain, remedy))
	}
}

func labelOf(f *cliv1alpha1.Finding) (string, style) {
	switch {
	case f.Waived != nil:
		return "Waived", dim
	case f.Blocks:
		return "Block", red
	case f.Severity == "Warn":
		return "Warn", yellow
	}
	return f.Severity, dim
}

func nameOf(f *cliv1alpha1.Finding) string {
	if f.Object == "" {
		return "the cluster"
	}
	return f.Object
}

// foldMore lists the objects of findings, the first few of many.
func foldMore(findings []*cliv1alpha1.Finding, most int) string {
	all := objectsOf(findings)
	if rest := len(findings) - most; len(all) > most && rest > 1 {
		return strings.Join(all[:most], ", ") + ", and " + phrase.Number(rest) + " more"
	}
	return strings.Join(all, ", ")
}

func objectsOf(findings []*cliv1alpha1.Finding) []string {
	out := make([]string, 0, len(findings))
	for _, f := range findings {
		out = append(out, nameOf(f))
	}
	return out
}

// same is true if all findings have the same value.
func same(findings []*cliv1alpha1.Finding, value func(*cliv1alpha1.Finding) string) bool {
	return !slices.ContainsFunc(findings, func(f *cliv1alpha1.Finding) bool { return value(f) != value(findings[0]) })
}
