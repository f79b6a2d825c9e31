package text

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// History renders a line for each operation.
func History(h *cliv1alpha1.History, now time.Time, command string) string {
	if len(h.Operations) == 0 {
		return Clean(fmt.Sprintf("There are no operations in %s. Start one with `%s upgrade --to VERSION`.", h.Cluster, command)) + "\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "OPERATION\tSTARTED\tFROM\tTO\tPHASE\tDURATION\tNODES\tCOMPONENTS\tREMARKS")
	for i := range h.Operations {
		o := &h.Operations[i]
		end := now
		if o.Ended {
			end = o.CompletionTime
		}
		from, nodes, components := dash(Clean(o.From)), doneOf(o.Nodes.Done, o.Nodes.Total), "-"
		if o.ComponentsOnly {
			from, nodes = "-", "-"
		}
		if o.Components.Total > 0 {
			components = doneOf(o.Components.Done, o.Components.Total)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", Clean(o.Name), o.StartTime.Format("2006-01-02 15:04"), from, Clean(o.To),
			Clean(o.Phase), Clock(end.Sub(o.StartTime)), nodes, components, Clean(remarks(o)))
	}
	w.Flush()
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func doneOf(done, total int) string { return phrase.Number(done) + "/" + phrase.Number(total) }

func remarks(o *cliv1alpha1.PastOperation) string {
	var out []string
	switch refitv1alpha1.Scope(o.Scope) {
	case refitv1alpha1.ScopeControlPlane:
		out = append(out, "control plane only")
	case refitv1alpha1.ScopeWorkers:
		out = append(out, "workers only")
	case refitv1alpha1.ScopeAll:
	}
	if len(o.Failed) > 0 {
		out = append(out, "failed: "+phrase.Fold(o.Failed, phrase.FewNames))
	}
	if o.Nodes.Skipped > 0 {
		out = append(out, phrase.Number(o.Nodes.Skipped)+" skipped")
	}
	if o.Message != "" {
		out = append(out, clip(o.Message, mostRemark))
	}
	return strings.Join(out, "; ")
}

// mostRemark is the maximum length of the message in a line.
const mostRemark = 80

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
