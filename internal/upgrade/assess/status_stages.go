package assess

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// stampStages sets when each stage started and was complete. Stages run in sequence. Both times are
// written once, so that what was reported about a stage stays true. The counts do not decide: a
// node that joined is not in the total.
func stampStages(
	stages []refitv1alpha1.StageSummary, progress []plan.StageProgress, previous *refitv1alpha1.PlanSummary, state plan.State, now time.Time,
) {
	keepTimes(stages, previous)
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	for i := range stages {
		s, kind := &stages[i], plan.StageKindOf(stages[i].Name)
		if s.CompletionTime != nil || s.Total == 0 && !kind.Always {
			continue // a stage without nodes takes no time
		}
		if s.StartTime == nil {
			if state != plan.Running && state != plan.Succeeded {
				return
			}
			s.StartTime = at.DeepCopy()
		}
		if state != plan.Succeeded && (i >= len(progress) || !progress[i].Complete) {
			return
		}
		s.CompletionTime = at.DeepCopy()
	}
}

// keepTimes keeps the times of stages that a former plan also had.
func keepTimes(stages []refitv1alpha1.StageSummary, previous *refitv1alpha1.PlanSummary) {
	if previous == nil {
		return
	}
	for i := range stages {
		for j := range previous.Stages {
			if p := &previous.Stages[j]; p.Name == stages[i].Name && p.Kubernetes == stages[i].Kubernetes {
				stages[i].StartTime, stages[i].CompletionTime = p.StartTime, p.CompletionTime
			}
		}
	}
}
