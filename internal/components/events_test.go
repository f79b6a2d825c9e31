package components

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Offers are computed again when a stage starts or ends, but not for every node.
func TestEventsOfOperations(t *testing.T) {
	operation := func(change func(*refitv1alpha1.StageSummary)) *refitv1alpha1.ClusterUpgrade {
		out := &refitv1alpha1.ClusterUpgrade{}
		out.Status.Plan = &refitv1alpha1.PlanSummary{
			Stages:     []refitv1alpha1.StageSummary{{Name: refitv1alpha1.StageControlPlane, Total: 3}},
			Components: []refitv1alpha1.PlannedComponent{{Name: "gateway"}},
		}
		change(&out.Status.Plan.Stages[0])
		return out
	}
	same := func(*refitv1alpha1.StageSummary) {}
	now := metav1.NewTime(time.Unix(0, 0))
	for situation, test := range map[string]struct {
		change func(*refitv1alpha1.StageSummary)
		want   bool
	}{
		"nothing changed":    {same, false},
		"a node is complete": {func(s *refitv1alpha1.StageSummary) { s.Done = 1 }, false},
		"the stage started":  {func(s *refitv1alpha1.StageSummary) { s.StartTime = &now }, true},
		"the stage ended":    {func(s *refitv1alpha1.StageSummary) { s.CompletionTime = &now }, true},
	} {
		t.Run(situation, func(t *testing.T) {
			if got := stageChanged(operation(same), operation(test.change)); got != test.want {
				t.Errorf("changed: %v, want %v", got, test.want)
			}
		})
	}
	if !stageChanged(&refitv1alpha1.ClusterUpgrade{}, operation(same)) {
		t.Error("a new plan is no change")
	}
	if got := ofOperation(t.Context(), operation(same)); len(got) != 1 || got[0].Name != "gateway" {
		t.Errorf("queued %v", got)
	}
}
