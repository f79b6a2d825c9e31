package text

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Releases renders a line for each ClusterRelease.
func Releases(r *cliv1alpha1.Releases, now time.Time, command string) string {
	if len(r.Releases) == 0 {
		return Clean(fmt.Sprintf("There are no ClusterReleases in %s. Create and add one with `%s release add VERSION`.", r.Cluster, command)) + "\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RELEASE\tKUBERNETES\tAGE\tCOMPONENTS\tUSED BY\tSIGNED BY")
	for i := range r.Releases {
		l := &r.Releases[i]
		row := []string{l.Name, l.Kubernetes, phrase.Duration(now.Sub(l.CreateTime)), listedComponents(l), usedBy(l), l.KeyID}
		if l.Problem != "" {
			row[5] = "unreadable: " + clip(l.Problem, mostRemark)
		}
		for k := range row {
			row[k] = dash(Clean(row[k]))
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func listedComponents(l *cliv1alpha1.ListedRelease) string {
	names := make([]string, 0, len(l.Components))
	for _, c := range l.Components {
		names = append(names, c.Name+" "+c.Version)
	}
	return phrase.Fold(names, phrase.FewNames)
}

// usedBy are the operations that follow a ClusterRelease, and the hosts that have verified it.
func usedBy(l *cliv1alpha1.ListedRelease) string {
	var out []string
	if len(l.Operations) > 0 {
		out = append(out, phrase.Fold(l.Operations, phrase.FewNames))
	}
	if l.VerifiedHosts > 0 {
		out = append(out, phrase.Count(l.VerifiedHosts, "host"))
	}
	if l.RejectedHosts > 0 {
		out = append(out, "rejected by "+phrase.Count(l.RejectedHosts, "host"))
	}
	return strings.Join(out, ", ")
}
