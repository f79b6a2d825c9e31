package progress

import (
	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// stagesOf returns the progress of each stage, as the controller has counted it.
func stagesOf(u *refitv1alpha1.ClusterUpgrade) []cliv1alpha1.StageProgress {
	succeeded := u.Status.Phase == refitv1alpha1.PhaseSucceeded
	out := make([]cliv1alpha1.StageProgress, len(u.Status.Plan.Stages))
	inProgress := u.HasEnded()
	for i := range u.Status.Plan.Stages {
		s := &u.Status.Plan.Stages[i]
		out[i] = cliv1alpha1.StageProgress{
			Name: string(s.Name), Kubernetes: s.Kubernetes, State: cliv1alpha1.StagePending, Total: int(s.Total), Done: int(s.Done),
		}
		switch kind := plan.StageKindOf(s.Name); {
		case succeeded || s.Done >= s.Total && !kind.Always:
			out[i].State = cliv1alpha1.StageDone
		case !inProgress: // stages run in sequence
			out[i].State, inProgress = cliv1alpha1.StageInProgress, true
		}
	}
	return out
}

// componentsOf counts the changes of components in all stages.
func componentsOf(stages []cliv1alpha1.StageProgress) (out cliv1alpha1.ComponentCounts) {
	for i := range stages {
		if kind := plan.StageKindOf(refitv1alpha1.StageName(stages[i].Name)); kind.Components {
			out.Total, out.Done = out.Total+stages[i].Total, out.Done+stages[i].Done
		}
	}
	return out
}
