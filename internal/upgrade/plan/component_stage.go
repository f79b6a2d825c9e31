package plan

import (
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

func (m *planner) componentsBefore(p *Plan, hop int) bool {
	return len(p.componentsOf(refitv1alpha1.StageComponentsBefore, hop)) > 0
}

func (m *planner) componentsAfter(p *Plan, hop int) bool {
	return len(p.componentsOf(refitv1alpha1.StageComponents, hop)) > 0
}

// componentsOf are the steps of a stage of components.
func (p *Plan) componentsOf(stage refitv1alpha1.StageName, hop int) []*componentplan.Step {
	var out []*componentplan.Step
	for i := range p.components {
		if step := &p.components[i]; step.Hop == hop && step.Stage() == stage {
			out = append(out, step)
		}
	}
	return out
}

func (m *planner) componentsBeforeReason(p *Plan, hop int) string {
	if p.From == p.Hops[hop].Kubernetes {
		return "one after the other, those first that others need"
	}
	return fmt.Sprintf("one after the other, before an API server of %s runs", p.Hops[hop].Kubernetes)
}

func (m *planner) componentsReason(p *Plan, _ int) string {
	if p.componentsAlone() {
		return "one after the other, those first that others need"
	}
	return "one after the other, as late as they may: before the workers"
}

func (m *planner) componentSteps(p *Plan, stage *Stage) {
	for _, step := range p.componentsOf(stage.Name, stage.Hop) {
		c := ComponentStep{Step: *step, Estimate: m.componentEstimate(step.Component)}
		if step.FromOffer {
			c.Offer = componentplan.AnyOffer(m.snapshot, step)
		}
		stage.Components = append(stage.Components, c)
		stage.Estimate = stage.Estimate.plus(c.Estimate)
	}
}

// componentEstimate takes the last upgrade of a component as its estimate: the time of its steps,
// between which the operation may have been paused, or have failed.
func (m *planner) componentEstimate(name string) Estimate {
	u := m.snapshot.ComponentUpgrade(name)
	if u == nil || u.Status.Phase != refitv1alpha1.ComponentSucceeded {
		return Estimate{Expected: defaultComponent}
	}
	var took time.Duration
	for i := range u.Status.Steps {
		if step := &u.Status.Steps[i]; step.StartTime != nil && step.CompletionTime != nil {
			took += step.CompletionTime.Sub(step.StartTime.Time)
		}
	}
	return Estimate{Expected: max(time.Second, took), Observed: true}
}

func (d *deciding) componentsBeforeComplete(hop int) bool {
	return d.allComponentsDone(refitv1alpha1.StageComponentsBefore, hop)
}

func (d *deciding) componentsComplete(hop int) bool {
	return d.allComponentsDone(refitv1alpha1.StageComponents, hop)
}

func (v *view) allComponentsDone(stage refitv1alpha1.StageName, hop int) bool {
	return !slices.ContainsFunc(v.plan.componentsOf(stage, hop), func(s *componentplan.Step) bool { return !v.componentDone(s) })
}

func (v *view) componentsBeforeDone(hop int) int32 {
	return v.countComponents(refitv1alpha1.StageComponentsBefore, hop)
}

func (v *view) componentsDone(hop int) int32 {
	return v.countComponents(refitv1alpha1.StageComponents, hop)
}

func (v *view) countComponents(stage refitv1alpha1.StageName, hop int) (done int32) {
	for _, step := range v.plan.componentsOf(stage, hop) {
		if v.componentDone(step) {
			done++
		}
	}
	return done
}
