package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Changed writes what follows from what a person told an operation.
func Changed(c *cliv1alpha1.Change, p Page) string {
	w := newWriter(p)
	w.para(0, as(plain, c.Message))
	if c.Plan != "" {
		w.para(0, as(dim, "Plan"), as(dim, c.Plan))
	}
	return w.String()
}

// Fold names a few things of many.
func Fold(names []string) string { return fold(names, foldedNames) }

// PlanInShort is a plan in one sentence.
func PlanInShort(p *refitv1alpha1.PlanSummary) string {
	versions := []string{p.From}
	for _, hop := range p.Hops {
		if hop.Kubernetes != p.From {
			versions = append(versions, hop.Kubernetes)
		}
	}
	var parts []string
	for _, s := range p.Stages {
		switch s.Name {
		case refitv1alpha1.StageControlPlane:
			parts = append(parts, count(int(s.Total), "control plane node")+" to "+s.Kubernetes)
		case refitv1alpha1.StageWorkers:
			parts = append(parts, count(int(s.Total), "worker")+" to "+s.Kubernetes)
		case refitv1alpha1.StagePrefetch, refitv1alpha1.StageVerify:
		}
	}
	return fmt.Sprintf("Kubernetes %s (%s), about %s", strings.Join(versions, " → "), sentence(parts), span(p.Estimate.Duration))
}
