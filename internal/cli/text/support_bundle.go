package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// bundleNodes is how many nodes a line lists.
const bundleNodes = 6

// SupportBundle renders what a support bundle has, and what is missing in it.
func SupportBundle(b *cliv1alpha1.SupportBundle, p Page) string {
	w := newWriter(p)
	about := "of the host " + b.Host
	if b.Cluster != "" {
		about = "of " + b.Cluster
	}
	if b.Operation != "" {
		about += ", about " + b.Operation
	}
	w.para(0, as(bold, "Support bundle"), as(plain, about))
	w.blank()
	w.backupField("File", fmt.Sprintf("%s, %s", b.File, size(b.FileBytes)))
	w.backupField("Time", moment(b.Since)+" to "+moment(b.Until))
	parts, hosts, cut := collected(b)
	content := phrase.Count(parts, "part")
	if hosts > 0 {
		content += ", with the journals of " + phrase.Count(hosts, "host")
	}
	if cut > 0 {
		content += "; " + phrase.Number(cut) + " of them cut at a limit"
	}
	w.backupField("Content", content)
	w.backupField("Redacted", redactions(b.Redactions))
	w.missing(b)
	w.section("Next steps")
	w.para(2, as(plain, "Check the content before you share it. List it with:"))
	w.command("tar -tzf " + Quote(b.File))
	return w.String()
}

// collected returns the number of parts in a bundle, of the hosts with one, and of the parts that
// were cut.
func collected(b *cliv1alpha1.SupportBundle) (parts, hosts, cut int) {
	nodes := map[string]bool{}
	for i := range b.Parts {
		part := &b.Parts[i]
		if part.Path == "" {
			continue
		}
		parts++
		if part.Truncated {
			cut++
		}
		if strings.HasPrefix(part.Path, "hosts/") && !nodes[part.Node] {
			nodes[part.Node] = true
			hosts++
		}
	}
	return parts, hosts, cut
}

func redactions(counts map[string]int64) string {
	total, rules := int64(0), 0
	for _, n := range counts {
		total += n
		if n > 0 {
			rules++
		}
	}
	if total == 0 {
		return "nothing: no rule found a secret"
	}
	return fmt.Sprintf("%s, found by %s", phrase.Count(int(total), "secret"), phrase.Count(rules, "rule"))
}

// gap is what is missing for one reason.
type gap struct {
	source string
	nodes  []string
	error  *cliv1alpha1.BundleError
	part   bool // some of it is there
}

// missing writes what is missing. Nodes for which the reason is the same share it.
func (w *writer) missing(b *cliv1alpha1.SupportBundle) {
	gaps := gapsOf(b)
	if len(gaps) == 0 {
		return
	}
	w.section("Missing")
	for _, g := range gaps {
		w.blank()
		what := g.source
		if g.part {
			what += ", of which a part is missing"
		}
		if len(g.nodes) > 0 {
			what = phrase.Fold(g.nodes, bundleNodes) + ": " + what
		}
		w.para(2, as(yellow, g.error.Reason), as(bold, what))
		w.para(4, as(plain, g.error.Message))
		w.para(4, as(plain, "→ "+g.error.Remedy))
	}
}

func gapsOf(b *cliv1alpha1.SupportBundle) (out []gap) {
	if e := b.APIUnreachable; e != nil {
		out = append(out, gap{source: "everything that the API server has", error: e})
	}
	for i := range b.Parts {
		part := &b.Parts[i]
		if part.Error == nil {
			continue
		}
		// Messages differ by the name of the node only.
		same := slices.IndexFunc(out, func(g gap) bool {
			return part.Node != "" && g.source == part.Source && g.error.Reason == part.Error.Reason && g.part == (part.Path != "")
		})
		if same >= 0 {
			out[same].nodes = append(out[same].nodes, part.Node)
			continue
		}
		g := gap{source: part.Source, error: part.Error, part: part.Path != ""}
		if part.Node != "" {
			g.nodes = []string{part.Node}
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b gap) int { return cmp.Compare(order(&a), order(&b)) })
	return out
}

// order puts what a limit has excluded last.
func order(g *gap) int {
	if g.error.Reason == "HostLimit" || g.error.Reason == "SizeLimit" {
		return 1
	}
	return 0
}
