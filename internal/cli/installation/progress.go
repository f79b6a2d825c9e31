package installation

import (
	"fmt"
	"io"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// reporter writes a line for each node's progress while the user waits. For many nodes it
// periodically writes the number of completed ones, and every failure.
type reporter struct {
	out  io.Writer
	done string // the word for a node that is done
	last int    // twentieths of many nodes that were reported
	// archives are imported on each node, imported are the nodes whose command was written.
	archives []string
	imported map[string]bool
}

// manyNodes is the number of nodes above which there is no line for each.
const manyNodes = 50

func (t *reporter) callbacks() install.Callbacks {
	return install.Callbacks{Step: t.step, Node: t.node, Pod: t.pod, Reach: t.reach}
}

func (t *reporter) line(what string) { fmt.Fprintln(t.out, text.Clean(what)) }

// step writes a step, which is in lower case, as a sentence.
func (t *reporter) step(what string) {
	if what != "" && what[0] >= 'a' && what[0] <= 'z' {
		what = string(what[0]-'a'+'A') + what[1:]
	}
	t.line(what)
}

func (t *reporter) node(n install.NodeProgress, done, of int) {
	defer t.importOn(n, of > manyNodes)
	line := fmt.Sprintf("  %s: %s", n.Node, text.State(string(n.State), t.done))
	if n.Why != "" {
		line += ": " + n.Why
	}
	switch many := of > manyNodes; {
	case n.State == install.Done && many:
		if twentieth := done * 20 / of; twentieth > t.last {
			t.last = twentieth
			t.line(fmt.Sprintf("  %d of %d %s", done, of, t.done))
		}
		return
	case n.State == install.Done:
		line += fmt.Sprintf(" (%d of %d)", done, of)
	case many && n.State != install.Failing:
		return
	}
	t.line(line)
}

// importOn writes the command that imports the images on a node, once. Of many nodes, it writes
// that of one.
func (t *reporter) importOn(n install.NodeProgress, many bool) {
	missing := n.State == install.Pulling || n.State == install.Failing
	if !missing || len(t.archives) == 0 || t.imported[n.Node] || many && len(t.imported) > 0 {
		return
	}
	if t.imported == nil {
		t.imported = map[string]bool{}
		t.line("  Import the images with these commands; a node that has failed to pull them notices it within 5 minutes:")
	}
	t.imported[n.Node] = true
	t.line("    " + importCommand(t.archives, n.Node))
}

// reach writes that a wait cannot observe the cluster, or can again.
func (t *reporter) reach(r install.Reach) {
	if r.Err == nil {
		t.line("  The API server is reachable again")
		return
	}
	line := fmt.Sprintf("  The API server is unreachable: %v", r.Err)
	if r.Left > 0 {
		line += "; the wait ends in " + phrase.Duration(r.Left)
	}
	t.line(line)
}

func (t *reporter) pod(p install.PodProgress) {
	if p.Node != "" {
		defer t.importOn(install.NodeProgress{Node: p.Node, State: p.State}, false)
	}
	line := fmt.Sprintf("  %s: %s", p.Pod, text.State(string(p.State), "running"))
	if p.Why != "" {
		line += ": " + p.Why
	}
	t.line(line)
}
