package text

import (
	"fmt"
	"slices"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// nodesShown is the largest stage whose nodes are listed. A larger one shows its pools instead.
const nodesShown = 12

// The indents of the parts of a stage.
const (
	stageIndent  = 2 // its number
	reasonIndent = 5 // below its title
	nodeIndent   = 7
)

// stages writes the stages. Text of an earlier stage is not repeated.
func (w *writer) stages(p *cliv1alpha1.Plan, wide bool) {
	shown := worthShowing(p.Stages)
	w.section("Stages", as(plain, fmt.Sprintf("(%d, %s)", len(shown), about(p.Estimate))))
	t := &table{}
	shownIn := map[string]int{} // the stage that shows each text
	anyFolded, objectsFolded := false, false
	for i := range shown {
		stage := &shown[i]
		t.blank()
		t.row(row{
			indent: stageIndent, name: fmt.Sprintf("%d  %s", i+1, title(stage)), style: bold, time: roughly(stage.Estimate),
			body: []run{as(plain, scale(stage, p.Pools))},
		})
		if reason := stage.Reason; reason != "" && shownIn[reason] == 0 {
			shownIn[reason] = i + 1
			t.line(reasonIndent, as(dim, reason))
		}
		objectsFolded = t.components(stage, wide) || objectsFolded
		if !kindOf(stage.Name).Pace.Disrupts() {
			continue
		}
		order := stage.Name + orderOf(stage.Nodes)
		if earlier := shownIn[order]; earlier > 0 && !wide {
			t.line(nodeIndent, as(plain, fmt.Sprintf("%s, as in stage %d", phrase.Fold(names(stage.Nodes), nodesShown), earlier)))
			continue
		}
		shownIn[order] = i + 1
		anyFolded = t.nodes(stage, p.Pools, wide) || anyFolded
	}
	t.write(w)
	if anyFolded {
		w.blank()
		w.para(stageIndent, as(dim, "--wide lists every node."))
	}
	if objectsFolded {
		w.blank()
		w.para(stageIndent, as(dim, "--wide lists every object that is deleted, and every CRD that changes."))
	}
}

// worthShowing omits empty stages, such as Workers in a cluster without workers.
func worthShowing(stages []cliv1alpha1.Stage) []cliv1alpha1.Stage {
	return slices.DeleteFunc(slices.Clone(stages), func(s cliv1alpha1.Stage) bool {
		kind := kindOf(s.Name)
		return len(s.Nodes)+len(s.Components) == 0 && !kind.Always && !kind.Once
	})
}

func kindOf(stage string) *plan.StageKind {
	kind := plan.StageKindOf(refitv1alpha1.StageName(stage))
	return &kind
}

func title(stage *cliv1alpha1.Stage) string { return kindOf(stage.Name).Heading(stage.Kubernetes) }

// scale is the number of nodes in a stage, and of those that are upgraded at once.
func scale(stage *cliv1alpha1.Stage, pools []cliv1alpha1.Pool) string {
	n := len(stage.Nodes)
	if c := len(stage.Components); c > 0 {
		return atOnce(phrase.Count(c, "component"), c, 1)
	}
	if n == 0 {
		return ""
	}
	out := phrase.Count(n, "node")
	switch kindOf(stage.Name).Pace {
	case plan.PaceOneAtATime:
		return atOnce(out, n, 1) + drained(stage.Nodes)
	case plan.PacePoolWindows:
		if len(pools) > 1 {
			out += " in " + phrase.Count(len(pools), "pool")
		}
		return atOnce(out, n, window(pools)) + drained(stage.Nodes)
	case plan.PaceFewAtATime, plan.PaceNone:
	}
	if n == 1 {
		return out
	}
	return out + ", a few at a time"
}

func drained(nodes []cliv1alpha1.Node) string {
	n := 0
	for i := range nodes {
		if nodes[i].Drain {
			n++
		}
	}
	switch {
	case n == len(nodes) && n == 1:
		return ", drained first"
	case n == len(nodes):
		return ", each drained first"
	case n > 0:
		return ", " + phrase.Number(n) + " of them drained first"
	case len(nodes) == 1:
		return ", not drained"
	}
	return ", none drained"
}

func names(nodes []cliv1alpha1.Node) []string {
	out := make([]string, 0, len(nodes))
	for i := range nodes {
		out = append(out, nodes[i].Name)
	}
	return out
}

// orderOf is equal for stages that do the same to the same nodes.
func orderOf(nodes []cliv1alpha1.Node) string {
	var out strings.Builder
	for i := range nodes {
		fmt.Fprintf(&out, "/%s %d %s", nodes[i].Name, nodes[i].Moves, nodes[i].Reason)
	}
	return out.String()
}
