package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// factsIndent is the column of the headline's values.
const factsIndent = 14

// headline writes the plan in a few facts.
func (w *writer) headline(r *cliv1alpha1.Report) {
	p := r.Plan
	what := "Kubernetes " + versions(p)
	if r.Request.Components {
		what = "components, on Kubernetes " + p.To
	}
	w.para(0, as(bold, fmt.Sprintf("Plan for %s: %s", subject(r), what)))
	w.para(0, as(dim, w.seen(r)))
	w.blank()
	fact := func(name string, body ...run) { w.hang("  "+name, dim, factsIndent, body...) }

	fact("Verdict", verdict(r)...)
	fact("Duration", as(plain, about(p.Estimate)), as(dim, basis(p.Estimate)))
	fact("Nodes", as(plain, touches(r)))
	if moved := podsOf(p); moved > 0 {
		fact("Evictions", as(plain, phrase.Count(moved, "pod")+budgets(p.Pools)))
	}
	if p.WorkersFrom != "" && p.WorkersFrom != p.From && r.Request.Scope == "All" {
		fact("Workers", as(plain, p.WorkersFrom+" → "+p.To))
	}
	if etcd := etcdRoute(p); etcd != "" {
		fact("etcd", as(plain, etcd))
	}
}

// budgets describes how pods are protected during drains.
func budgets(pools []cliv1alpha1.Pool) string {
	for i := range pools {
		if pools[i].Drain.OnBlocked == "Delete" {
			return ", some possibly against their disruption budgets"
		}
	}
	return ", within PodDisruptionBudgets"
}

// subject is the subject of the plan.
func subject(r *cliv1alpha1.Report) string {
	switch r.Request.Scope {
	case "ControlPlane":
		return "the control plane of " + r.Cluster.Name
	case "Workers":
		return "the workers of " + r.Cluster.Name
	}
	return r.Cluster.Name
}

// verdict reports whether the upgrade can start, and the number of findings.
func verdict(r *cliv1alpha1.Report) []run {
	var also []string
	if n := r.Counts.Warn; n > 0 {
		also = append(also, phrase.Count(n, "warning"))
	}
	if n := r.Counts.Deferred; n > 0 {
		also = append(also, phrase.Count(n, "prerequisite")+" missing")
	}
	out := as(green, "nothing blocks")
	if r.Blocked {
		out = as(red, blocking(r.Counts.Block))
	}
	if len(also) == 0 {
		return []run{out}
	}
	return []run{out, as(plain, "("+strings.Join(also, ", ")+")")}
}

// versions is the sequence of versions.
func versions(p *cliv1alpha1.Plan) string {
	out := []string{p.From}
	for _, stage := range p.Stages {
		if stage.Name == string(refitv1alpha1.StageControlPlane) {
			out = append(out, stage.Kubernetes)
		}
	}
	if len(out) == 1 { // only workers move
		out = []string{p.WorkersFrom, p.To}
	}
	return strings.Join(out, " → ")
}

// etcdRoute is the sequence of etcd versions, empty if etcd stays.
func etcdRoute(p *cliv1alpha1.Plan) string {
	var versions []string
	for _, hop := range p.Hops {
		if hop.Etcd == nil || hop.Etcd.To == "" {
			continue
		}
		if len(versions) == 0 {
			versions = append(versions, hop.Etcd.From)
		}
		versions = append(versions, hop.Etcd.To)
	}
	return strings.Join(versions, " → ")
}

func basis(e cliv1alpha1.Estimate) string {
	if e.Observed {
		return "(measured in this cluster)"
	}
	return "(default estimate; nothing was measured in this cluster yet)"
}

// touches is the number of nodes that the plan changes, and how many are unavailable at once.
func touches(r *cliv1alpha1.Report) string {
	controlPlane, workers, fetching := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, stage := range r.Plan.Stages {
		for _, node := range stage.Nodes {
			switch kindOf(stage.Name).Pace {
			case plan.PaceOneAtATime:
				controlPlane[node.Name] = true
			case plan.PacePoolWindows:
				workers[node.Name] = true
			case plan.PaceFewAtATime:
				fetching[node.Name] = true
			case plan.PaceNone:
			}
		}
	}
	var parts []string
	if n := len(controlPlane); n > 0 {
		parts = append(parts, atOnce(phrase.Count(n, "control plane node"), n, 1))
	}
	if n := len(workers); n > 0 {
		parts = append(parts, atOnce(phrase.Count(n, "worker"), n, window(r.Plan.Pools)))
	}
	switch n := len(fetching); {
	case len(parts) > 0:
		return strings.Join(parts, "; ")
	case n > 0:
		return phrase.Count(n, "node") + " only prefetch images"
	}
	return "no node"
}

// atOnce adds the number of concurrent nodes, if it is more than one.
func atOnce(what string, n, most int) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%s, %s at a time", what, phrase.Number(min(n, most)))
}

// window is the number of concurrent workers of all pools together, which has a maximum.
func window(pools []cliv1alpha1.Pool) int {
	sum := 0
	for i := range pools {
		sum += min(pools[i].MaxUnavailable, pools[i].Nodes)
	}
	return min(max(1, sum), refitv1alpha1.MaxActive)
}

// podsOf counts evictions.
func podsOf(p *cliv1alpha1.Plan) int {
	sum := 0
	for i := range p.Stages {
		sum += movesOf(p.Stages[i].Nodes)
	}
	return sum
}
