package progress

import cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"

// mostAlike is the number of similar findings in a document. It keeps a check with a finding on
// each of thousands of nodes from hiding the rest.
const mostAlike = 1000

// Folded returns the report without findings of a check beyond the first thousand similar ones. The
// last one that remains counts the others.
func Folded(r *cliv1alpha1.Report) *cliv1alpha1.Report {
	type kind struct {
		check, severity string
		blocks, waived  bool
	}
	count, last := map[kind]int{}, map[kind]int{}
	out := *r
	out.Findings = []cliv1alpha1.Finding{}
	for i := range r.Findings {
		f := &r.Findings[i]
		k := kind{f.Check, f.Severity, f.Blocks, f.Waived != nil}
		if count[k]++; count[k] > mostAlike {
			out.Findings[last[k]].More++
			continue
		}
		last[k] = len(out.Findings)
		out.Findings = append(out.Findings, *f)
	}
	return &out
}
