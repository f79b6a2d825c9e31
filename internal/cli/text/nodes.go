package text

import (
	"fmt"
	"slices"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// reasonsShown is the number of different reasons in a folded list.
const reasonsShown = 4

// nodes writes a row for each node where they are few or wide is set, else a few lines for each
// pool. It returns whether it folded.
func (t *table) nodes(stage *cliv1alpha1.Stage, pools []cliv1alpha1.Pool, wide bool) (folded bool) {
	folded = len(stage.Nodes) > nodesShown && !wide
	if kindOf(stage.Name).Pace == plan.PaceOneAtATime || len(pools) < 2 {
		one := &cliv1alpha1.Pool{MaxUnavailable: 1}
		if kindOf(stage.Name).Pace == plan.PacePoolWindows && len(pools) == 1 {
			one = &pools[0]
		}
		if folded {
			if moves := movesOf(stage.Nodes); moves > 0 {
				t.line(nodeIndent, as(plain, movesPods(moves)))
			}
		}
		t.pool(stage, one, stage.Nodes, nodeIndent, folded)
		return folded
	}
	for i := range pools {
		pool := &pools[i]
		nodes := slices.DeleteFunc(slices.Clone(stage.Nodes), func(n cliv1alpha1.Node) bool { return n.Pool != pool.Name })
		if len(nodes) == 0 {
			continue
		}
		summary := atOnce(phrase.Count(len(nodes), "node"), len(nodes), min(pool.MaxUnavailable, refitv1alpha1.MaxActive))
		if moves := movesOf(nodes); moves > 0 {
			summary += "; " + movesPods(moves)
		}
		t.row(row{indent: nodeIndent, name: pool.Name, time: roughly(pool.Estimate), body: []run{as(plain, summary)}})
		t.pool(stage, pool, nodes, nodeIndent+2, folded)
	}
	return folded
}

// pool writes nodes that share a policy.
func (t *table) pool(stage *cliv1alpha1.Stage, pool *cliv1alpha1.Pool, nodes []cliv1alpha1.Node, indent int, folded bool) {
	if folded {
		t.folded(pool, nodes, indent)
	} else {
		for i := range nodes {
			n := &nodes[i]
			t.row(row{indent: indent, name: n.Name, time: roughly(n.Estimate), body: []run{as(plain, notesOf(stage, pool, n))}})
		}
	}
	if stuck := whenStuck(&pool.Drain); stuck != "" && drains(nodes) {
		t.line(indent, as(yellow, stuck))
	}
}

// notesOf are the notes about one node.
func notesOf(stage *cliv1alpha1.Stage, pool *cliv1alpha1.Pool, n *cliv1alpha1.Node) string {
	var notes []string
	if note := kubeletNote(n.From, stage.Kubernetes); note != "" {
		notes = append(notes, note)
	}
	if n.Moves > 0 {
		notes = append(notes, movesPods(n.Moves))
	}
	if n.Reason != "" {
		notes = append(notes, n.Reason)
	}
	if pool.MaxUnavailable > 1 { // otherwise no two nodes are upgraded together anyway
		for _, apart := range n.Apart {
			notes = append(notes, fmt.Sprintf("not together with %s: %s", apart.Node, apart.Reason))
		}
	}
	return strings.Join(notes, "; ")
}

// kubeletNote is the note about a kubelet that stays as it is.
func kubeletNote(from, to string) string {
	is, err := skew.Parse(from)
	target, also := skew.Parse(to)
	switch {
	case from == to:
		return "its kubelet is at " + from + " already"
	case err == nil && also == nil && target.Before(is):
		return "its kubelet is at " + from + ", which is newer"
	}
	return ""
}

// folded writes many nodes in a few lines: the first and the last one, their zones, and the
// exceptions.
func (t *table) folded(pool *cliv1alpha1.Pool, nodes []cliv1alpha1.Node, indent int) {
	t.line(indent, as(plain, phrase.Fold(names(nodes), phrase.FewNames)))
	if zones := zonesOf(nodes); zones != "" {
		t.line(indent, as(plain, zones))
	}
	for _, special := range specials(nodes) {
		t.line(indent, as(plain, special))
	}
	if pool.MaxUnavailable > 1 {
		if apart := apartOf(nodes); apart != "" {
			t.line(indent, as(plain, apart))
		}
	}
}

// zonesOf is the order of the zones, with the number of nodes in each; empty for one zone.
func zonesOf(nodes []cliv1alpha1.Node) string {
	zones, sizes := tally(nodes, func(n *cliv1alpha1.Node) string { return n.Zone })
	if len(zones) < 2 {
		return ""
	}
	for i, zone := range zones {
		name := zone
		if name == "" {
			name = "no zone"
		}
		zones[i] = fmt.Sprintf("%s (%s)", name, phrase.Number(len(sizes[zone])))
	}
	return "zone by zone: " + phrase.Fold(zones, phrase.FewNames)
}

// specials lists the remarks that apply to only some of the nodes, each once.
func specials(nodes []cliv1alpha1.Node) []string {
	reasons, who := tally(nodes, func(n *cliv1alpha1.Node) string { return n.Reason })
	reasons = slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" })
	var out []string
	for i, reason := range reasons {
		if i == reasonsShown {
			out = append(out, "and "+phrase.Count(len(reasons)-i, "more reason"))
			break
		}
		what := strings.Join(who[reason], ", ")
		if n := len(who[reason]); n > 3 {
			what = fmt.Sprintf("%s (%s)", phrase.Count(n, "node"), phrase.Fold(who[reason], 2))
		}
		out = append(out, what+": "+reason)
	}
	return out
}

// apartOf counts the nodes that are not upgraded at the same time as some other.
func apartOf(nodes []cliv1alpha1.Node) string {
	apart, example := 0, ""
	for i := range nodes {
		if len(nodes[i].Apart) > 0 {
			apart++
			if example == "" {
				example = nodes[i].Apart[0].Reason
			}
		}
	}
	if apart == 0 {
		return ""
	}
	return fmt.Sprintf("%s until others are ready again, for example because %s", waits(apart, "node"), example)
}

func waits(n int, one string) string {
	if n == 1 {
		return "1 " + one + " waits"
	}
	return phrase.Number(n) + " " + one + "s wait"
}

// tally groups the names of nodes by a value, in the order in which the values first occur.
func tally(nodes []cliv1alpha1.Node, value func(*cliv1alpha1.Node) string) (values []string, who map[string][]string) {
	who = map[string][]string{}
	for i := range nodes {
		v := value(&nodes[i])
		if who[v] == nil {
			values = append(values, v)
		}
		who[v] = append(who[v], nodes[i].Name)
	}
	return values, who
}

// whenStuck is the policy for a node that cannot be drained, empty for the default, which is to
// wait.
func whenStuck(d *cliv1alpha1.Drain) string {
	after := phrase.Duration(time.Duration(d.TimeoutSeconds) * time.Second)
	switch d.OnBlocked {
	case "Delete":
		return "pods that are not evicted after " + after + " are deleted, against their disruption budgets"
	case "Skip":
		return "a node that is not drained after " + after + " is skipped"
	case "Fail":
		return "a node that is not drained after " + after + " stops the upgrade"
	}
	return ""
}

func drains(nodes []cliv1alpha1.Node) bool {
	return slices.ContainsFunc(nodes, func(n cliv1alpha1.Node) bool { return n.Drain })
}

func movesOf(nodes []cliv1alpha1.Node) int {
	sum := 0
	for i := range nodes {
		sum += nodes[i].Moves
	}
	return sum
}

func movesPods(n int) string {
	if n == 1 {
		return "1 pod moves"
	}
	return phrase.Number(n) + " pods move"
}
