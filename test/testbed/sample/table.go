package sample

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the report as text: a line per kind, and a line per node for the Service. The
// times of the gaps follow.
func (r Report) WriteTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tWATCHED\tSAMPLES\tFAILED\tGAPS\tSUM\tLONGEST\tREASONS")
	for _, k := range r.Kinds {
		writeRow(w, string(k.Kind), k.Totals)
		for _, n := range k.Nodes {
			writeRow(w, "  "+n.Node, n.Totals)
		}
	}
	for _, k := range r.Kinds {
		writeGaps(w, string(k.Kind), k.Gaps)
		for _, n := range k.Nodes {
			writeGaps(w, string(k.Kind)+" from "+n.Node, n.Gaps)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the table of samples: %w", err)
	}
	return nil
}

// writeGaps writes when the gaps were, in seconds after the start.
func writeGaps(w io.Writer, name string, gaps []GapReport) {
	for _, g := range gaps {
		end := fmt.Sprintf("%.1fs", g.ToSeconds)
		if g.Open {
			end += " (open)"
		}
		fmt.Fprintf(w, "no good sample of %s from %.1fs to %s\n", name, g.FromSeconds, end)
	}
}

func writeRow(w io.Writer, name string, t Totals) {
	gaps := fmt.Sprint(t.GapCount)
	if t.GapsOpen > 0 {
		gaps += fmt.Sprintf(" (%d open)", t.GapsOpen)
	}
	fmt.Fprintf(w, "%s\t%.1fs\t%d\t%d\t%s\t%.1fs\t%.1fs\t%s\n",
		name, t.WatchedSeconds, t.Samples, t.Failed, gaps, t.GapSeconds, t.LongestGapSeconds, remarks(t))
}

// remarks lists the reasons, most frequent first.
func remarks(t Totals) string {
	reasons := slices.SortedFunc(maps.Keys(t.Reasons), func(a, b string) int {
		if t.Reasons[a] != t.Reasons[b] {
			return t.Reasons[b] - t.Reasons[a]
		}
		return strings.Compare(a, b)
	})
	var list []string
	for _, reason := range reasons {
		list = append(list, fmt.Sprintf("%d %s", t.Reasons[reason], reason))
	}
	if t.MissedTicks > 0 {
		list = append(list, fmt.Sprintf("sampler missed %d ticks", t.MissedTicks))
	}
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ", ")
}
