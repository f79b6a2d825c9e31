package plan

import (
	"fmt"
	"strings"
)

// tell writes a plan as a story.
func tell(p *Plan) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, strings.TrimRight(format, " ")+"\n", args...) }
	line("From %s to %s in %s.", p.From, p.To, tellEstimate(p.Estimate))
	for i, stage := range p.Stages {
		line("\n%d. %s %s, %s: %s", i+1, stage.Name, stage.Kubernetes, tellEstimate(stage.Estimate), stage.Reason)
		for _, step := range stage.Nodes {
			line("   %s", tellStep(step))
		}
	}
	for i, pool := range p.Pools {
		if i == 0 {
			line("\nPools")
		}
		text := fmt.Sprintf("   %s: %d nodes, at most %d unavailable, %s", pool.Name, pool.Nodes, pool.MaxUnavailable, tellEstimate(pool.Estimate))
		if len(pool.Zones) > 0 {
			text += ", zones " + strings.Join(pool.Zones, " ")
		}
		if pool.Canary != nil {
			text += fmt.Sprintf(", canary %d for %s", pool.Canary.Nodes, duration(pool.Canary.Soak.Duration))
		}
		line("%s, drain within %s else %s", text, duration(pool.Drain.Timeout.Duration), pool.Drain.OnBlocked)
	}
	for i, note := range p.Notes {
		if i == 0 {
			line("\nWhy")
		}
		line("   %s: %s", note.Decision, note.Reason)
	}
	for i, left := range p.Excluded {
		if i == 0 {
			line("\nNot touched")
		}
		line("   %s: %s", left.Node, left.Reason)
	}
	return b.String()
}

func tellStep(step NodeStep) string {
	parts := []string{step.Node}
	if step.Pool != "" {
		parts = append(parts, strings.TrimSpace(step.Pool+" "+step.Zone))
	}
	if step.UpToDate {
		return strings.Join(append(parts, "is there already"), ", ")
	}
	parts = append(parts, step.From+" to "+step.To)
	if step.Drain {
		parts = append(parts, fmt.Sprintf("drained, pods to move: %d", step.Moves))
	}
	if step.Estimate.Expected > 0 {
		parts = append(parts, tellEstimate(step.Estimate))
	}
	if step.Reason != "" {
		parts = append(parts, step.Reason)
	}
	for _, apart := range step.Conflicts {
		parts = append(parts, fmt.Sprintf("not together with %s: %s", apart.Node, apart.Reason))
	}
	return strings.Join(parts, ", ")
}

func tellEstimate(e Estimate) string {
	if e.Observed {
		return duration(e.Expected) + " as observed"
	}
	return "about " + duration(e.Expected)
}
