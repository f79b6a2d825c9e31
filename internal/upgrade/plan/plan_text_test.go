package plan

import (
	"fmt"
	"strings"
)

// planText writes a plan for a reader.
func planText(p *Plan) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, strings.TrimRight(format, " ")+"\n", args...) }
	line("From %s to %s in %s.", p.From, p.To, estimateText(p.Estimate))
	for i, stage := range p.Stages {
		line("\n%d. %s %s, %s: %s", i+1, stage.Name, stage.Kubernetes, estimateText(stage.Estimate), stage.Reason)
		for _, step := range stage.Nodes {
			line("   %s", stepText(step))
		}
		for i := range stage.Components {
			line("   %s", componentText(&stage.Components[i]))
		}
	}
	for i, pool := range p.Pools {
		if i == 0 {
			line("\nPools")
		}
		text := fmt.Sprintf("   %s: %d nodes, at most %d unavailable, %s", pool.Name, pool.Nodes, pool.MaxUnavailable, estimateText(pool.Estimate))
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
			line("\nExcluded")
		}
		line("   %s: %s", left.Node, left.Reason)
	}
	return b.String()
}

func stepText(step NodeStep) string {
	parts := []string{step.Node}
	if step.Pool != "" {
		parts = append(parts, strings.TrimSpace(step.Pool+" "+step.Zone))
	}
	if step.UpToDate {
		return strings.Join(append(parts, "is up to date"), ", ")
	}
	parts = append(parts, step.From+" to "+step.To)
	if step.Drain {
		parts = append(parts, fmt.Sprintf("drained, pods to move: %d", step.Moves))
	}
	if step.Estimate.Expected > 0 {
		parts = append(parts, estimateText(step.Estimate))
	}
	if step.Reason != "" {
		parts = append(parts, step.Reason)
	}
	for _, conflict := range step.Conflicts {
		parts = append(parts, fmt.Sprintf("not together with %s: %s", conflict.Node, conflict.Reason))
	}
	return strings.Join(parts, ", ")
}

func componentText(c *ComponentStep) string {
	text := fmt.Sprintf("%s %s, %s: %s", c.Action, c.Component, strings.Trim(c.From+" to "+c.To, " to"), c.Reason)
	if c.Offer != nil {
		text += fmt.Sprintf("; creates %d, changes %d, deletes %d objects", c.Offer.Changes.Create, c.Offer.Changes.Change, c.Offer.Changes.Delete)
	}
	return text + ", " + estimateText(c.Estimate)
}

func estimateText(e Estimate) string {
	if e.Observed {
		return duration(e.Expected) + " as observed"
	}
	return "about " + duration(e.Expected)
}
