package text

import (
	"slices"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Plan renders the page of `refit plan`.
func Plan(r *cliv1alpha1.Report, page Page, next Next) string {
	w := newWriter(page)
	if r.Done() {
		return w.nothing(r, page.Wide)
	}
	r = withoutNodes(r)
	w.headline(r)
	w.findings("Blocking", r.Findings, isBlocking, page.Wide)
	w.stages(r.Plan, page.Wide)
	w.why(r.Plan)
	w.leftOut(r.Plan, page.Wide)
	w.findings("Warnings", r.Findings, isWarning, page.Wide)
	w.findings("Waived", r.Findings, isWaived, page.Wide)
	w.information(r, page.Wide)
	w.needed(r, page.Wide)
	w.next(r, next)
	w.blank()
	w.para(0, as(dim, "Plan"), as(dim, r.Plan.Hash))
	return w.String()
}

// withoutNodes returns an upgrade of components alone without the stages of nodes, which change
// none, and without the notes on them.
func withoutNodes(r *cliv1alpha1.Report) *cliv1alpha1.Report {
	if !r.Request.Components {
		return r
	}
	report, plan := *r, *r.Plan
	plan.Notes, plan.Stages = nil, slices.DeleteFunc(slices.Clone(plan.Stages), func(s cliv1alpha1.Stage) bool { return kindOf(s.Name).Pace.Disrupts() })
	report.Plan = &plan
	return &report
}

// why writes the decisions about the whole plan.
func (w *writer) why(p *cliv1alpha1.Plan) {
	if len(p.Notes) == 0 {
		return
	}
	w.section("Why")
	for _, note := range p.Notes {
		w.hang("  -", dim, 4, as(plain, note.Decision+":"), as(dim, note.Reason))
	}
}

// leftOut writes the nodes that the plan does not change, a line for each reason.
func (w *writer) leftOut(p *cliv1alpha1.Plan, wide bool) {
	if len(p.LeftOut) == 0 {
		return
	}
	most := phrase.FewNames
	if wide {
		most = len(p.LeftOut)
	}
	w.section("Excluded")
	var reasons []string
	nodes := map[string][]string{}
	for _, left := range p.LeftOut {
		if nodes[left.Reason] == nil {
			reasons = append(reasons, left.Reason)
		}
		nodes[left.Reason] = append(nodes[left.Reason], left.Node)
	}
	for _, reason := range reasons {
		names := nodes[reason]
		w.hang("  -", dim, 4, as(plain, phrase.Count(len(names), "node")+", "+phrase.Fold(names, most)+":"), as(dim, reason))
	}
}
