package plan

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// ComponentsAlone reports whether a recorded plan changes components on the version of Kubernetes
// that runs, and no node.
func ComponentsAlone(p *refitv1alpha1.PlanSummary) bool {
	return p != nil && len(p.Components) > 0 && staysAt(p.From, p.WorkersFrom, p.To)
}

// componentsAlone reports the same of a plan.
func (p *Plan) componentsAlone() bool {
	return len(p.components) > 0 && staysAt(p.From, p.WorkersFrom, p.To)
}

func staysAt(from, workersFrom, to string) bool {
	return from == to && (workersFrom == "" || workersFrom == to)
}

// withoutUnchanged removes the nodes that run the version already from a stage that disrupts nodes,
// if the plan changes components alone: the stage would seem to change them.
func (p *Plan) withoutUnchanged(stage *Stage) {
	kind := StageKindOf(stage.Name)
	if kind.Pace.Disrupts() && p.componentsAlone() {
		stage.Nodes = slices.DeleteFunc(stage.Nodes, func(n NodeStep) bool { return n.UpToDate })
	}
}
