package output

// mostAlike is how many findings of one check a document holds, unless all are asked for. It is far more than anybody reads: it keeps a check that finds
// something on each of many thousand nodes from burying the rest.
const mostAlike = 1000

// Folded is the report without the findings of a check beyond the first thousand of a kind. The last one that is left counts the others.
func (r *Report) Folded() *Report {
	type kind struct {
		check, severity string
		blocks, waived  bool
	}
	count, last := map[kind]int{}, map[kind]int{}
	out := *r
	out.Findings = []Finding{}
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
