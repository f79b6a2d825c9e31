package verbs

import (
	"cmp"
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// Approve approves the plan of an operation. With a hash, only that plan is approved. A plan that
// has changed since it was approved is approved by its hash only.
func Approve(o Operation, hash string) (Decision, error) {
	p := o.Status.Plan
	switch {
	case o.Spec.Aborted:
		return Decision{}, fmt.Errorf("the operation %s is being aborted: it cannot be approved", o.Name)
	case p == nil:
		return Decision{}, fmt.Errorf("the operation %s has no plan yet: `%s status %s` shows what it waits for", o.Name, o.Command, o.Name)
	}
	pending := cmp.Or(p.ProposedHash, p.Hash)
	switch {
	case p.ProposedHash != "" && hash == "":
		return Decision{}, fmt.Errorf("the plan of %s has changed since it was approved: it is %s now. Review it (`%s`), "+
			"then approve it by its hash: `%s approve %s --plan %s`", o.Name, pending, review(o), o.Command, o.Name, pending)
	case hash != "" && hash != pending:
		return Decision{}, fmt.Errorf("the plan of %s is %s, not the given one: review it again with `%s`", o.Name, pending, review(o))
	case o.Spec.ApprovedPlan == pending:
		return Decision{Message: fmt.Sprintf("The plan of %s is approved already.", o.Name), Plan: pending}, nil
	}
	return Decision{
		Change:  func(s *refitv1alpha1.ClusterUpgradeSpec) { s.ApprovedPlan = pending },
		Message: fmt.Sprintf("Approved: %s. %s continues; `%s watch` shows the progress.", inShort(p), o.Name, o.Command),
		Plan:    pending,
	}, nil
}

// review is the command that shows the current plan of an operation, with everything in its spec.
func review(o Operation) string {
	return fmt.Sprintf("kubectl get clusterupgrade %s -o yaml | %s plan -f -", o.Name, o.Command)
}

// inShort is a plan in one sentence.
func inShort(p *refitv1alpha1.PlanSummary) string {
	versions := []string{p.From}
	for _, hop := range p.Hops {
		if hop.Kubernetes != p.From {
			versions = append(versions, hop.Kubernetes)
		}
	}
	var parts []string
	for _, s := range p.Stages {
		if s.Total == 0 {
			continue
		}
		switch s.Name {
		case refitv1alpha1.StageControlPlane:
			parts = append(parts, phrase.Count(int(s.Total), "control plane node")+" to "+s.Kubernetes)
		case refitv1alpha1.StageWorkers:
			parts = append(parts, phrase.Count(int(s.Total), "worker")+" to "+s.Kubernetes)
		case refitv1alpha1.StageComponentsBefore, refitv1alpha1.StageComponents:
			parts = append(parts, phrase.Count(int(s.Total), "component"))
		case refitv1alpha1.StagePrefetch, refitv1alpha1.StageBackup, refitv1alpha1.StageRehearsal, refitv1alpha1.StageVerify:
		}
	}
	if plan.ComponentsAlone(p) {
		return fmt.Sprintf("%s on Kubernetes %s, about %s", phrase.List(parts), p.To, phrase.Duration(p.Estimate.Duration))
	}
	return fmt.Sprintf("Kubernetes %s (%s), about %s", strings.Join(versions, " → "), phrase.List(parts), phrase.Duration(p.Estimate.Duration))
}
