package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// tense has the words for a completed or a planned removal.
type tense struct {
	removed, lifted string
	counts          string // the state of the nodes to count
}

var (
	was     = tense{"removed", "uncordoned", cliv1alpha1.HostDone}
	wouldBe = tense{"to be removed", "to be uncordoned", cliv1alpha1.HostWaiting}
)

// Uninstall renders the result of `refit uninstall`.
func Uninstall(u *cliv1alpha1.Uninstall, p Page, again string) string {
	w := newWriter(p)
	if !u.Installed {
		w.para(0, as(bold, fmt.Sprintf("Refit is not installed in %s.", u.Cluster)))
		w.leftovers(u)
		return w.String()
	}
	w.para(0, as(bold, fmt.Sprintf("Refit %s in %s", u.Version, u.Cluster)))
	w.blank()
	tense := wouldBe
	if u.Done {
		tense = was
	}
	w.fact("Objects", phrase.Number(having(u.Objects, cliv1alpha1.ActionRemoved))+" "+tense.removed)
	var content []string
	for _, kind := range slices.Sorted(maps.Keys(u.Content)) {
		if n := u.Content[kind]; n > 0 {
			content = append(content, phrase.Count(n, strings.TrimSuffix(kind, "s")))
		}
	}
	if len(content) > 0 {
		w.fact("Content", phrase.List(content))
	}
	if len(u.Cordoned) > 0 {
		w.fact("Nodes", tense.lifted+": "+phrase.Fold(u.Cordoned, 8))
	}
	w.hosts("Agents", tense.removed+" from", u.Nodes, tense.counts)
	if u.Content["backupstores"] > 0 {
		w.fact("Backups", "stay in their buckets and directories, and so do the identities that decrypt them")
	}
	if u.Content["components"] > 0 {
		w.fact("Components", "stay installed: they are releases of Helm")
	}
	w.leftovers(u)
	var late []row
	for _, n := range u.Nodes {
		if u.Done && n.State != cliv1alpha1.HostDone || n.State == cliv1alpha1.HostUnreachable {
			late = append(late, row{indent: 2, name: n.Node, time: State(n.State, "removed"), body: []run{as(plain, n.Why)}})
		}
	}
	w.rows("Remaining agents", late)
	if len(late) > 0 {
		w.para(2, as(plain, "Run on each of these hosts as root:"))
		w.command("refit-agent uninstall")
	}
	if !u.Done {
		w.section("Next steps")
		w.para(2, as(plain, "Nothing has been changed. ClusterReleases, reports and operations are deleted permanently; "+
			"upgraded software stays. To remove Refit:"))
		w.command(again + " --yes")
	}
	return w.String()
}

// leftovers lists objects with Refit's names but without its label.
func (w *writer) leftovers(u *cliv1alpha1.Uninstall) {
	var rows []row
	for i := range u.Objects {
		if o := &u.Objects[i]; o.Action == cliv1alpha1.ActionLeft {
			rows = append(rows, row{indent: 2, name: objectName(o), body: []run{as(plain, aside(o, false))}})
		}
	}
	w.rows("Kept", rows)
}
