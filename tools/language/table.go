package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// writeTable prints the count of each phrase and the sum of each area, the most used phrase first.
func (r *result) writeTable(out io.Writer) error {
	counts := map[string]map[string]int{}
	for _, u := range r.uses {
		if counts[u.phrase] == nil {
			counts[u.phrase] = map[string]int{}
		}
		counts[u.phrase][u.area]++
		counts[u.phrase]["sum"]++
	}
	phrases := make([]string, 0, len(counts))
	for p := range counts {
		phrases = append(phrases, p)
	}
	slices.SortFunc(phrases, func(a, b string) int {
		return cmp.Or(counts[b]["sum"]-counts[a]["sum"], cmp.Compare(a, b))
	})
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "PHRASE\tDOCS\tGOLDENS\tCRDS\tGO\n")
	for _, p := range phrases {
		r.writeRow(table, p, func(area string) int { return counts[p][area] })
	}
	r.writeRow(table, "allowed", func(area string) int { return r.allowed[area] })
	r.writeRow(table, "total", r.found)
	fmt.Fprintf(table, "comment lines wider than %d columns\t\t\t\t%d\n", maxColumns, len(r.wide))
	return table.Flush()
}

func (r *result) writeRow(out io.Writer, name string, of func(area string) int) {
	fmt.Fprint(out, name)
	for _, area := range areas {
		fmt.Fprintf(out, "\t%d", of(area))
	}
	fmt.Fprintln(out)
}

// writeUses lists each use as compilers do, so that editors can jump to it.
func (r *result) writeUses(out io.Writer) {
	for _, u := range r.uses {
		fmt.Fprintf(out, "%s:%d: %q: use %s\n", u.file, u.line, u.text, u.instead)
	}
	for _, u := range r.wide {
		fmt.Fprintf(out, "%s:%d: the comment line is wider than %d columns\n", u.file, u.line, maxColumns)
	}
}
