package componentplan

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestOrdersThatChangedNothing(t *testing.T) {
	for _, c := range []struct {
		name            string
		phase           refitv1alpha1.ComponentPhase
		permit          refitv1alpha1.Permit
		steps           []string
		retry           int64
		void, continues bool
	}{
		{name: "failed check", phase: refitv1alpha1.ComponentFailed, steps: []string{"check"}, continues: true},
		{name: "retry of a failed check", phase: refitv1alpha1.ComponentFailed, steps: []string{"check"}, retry: 1, void: true},
		{name: "retry of a failed save", phase: refitv1alpha1.ComponentFailed, steps: []string{"check", "save"}, retry: 1, void: true},
		{name: "retry of a failed wave", phase: refitv1alpha1.ComponentFailed, steps: []string{"check", "save", "wave-all"}, retry: 1, continues: true},
		{
			name: "held after the check", phase: refitv1alpha1.ComponentApplying, permit: refitv1alpha1.PermitHold,
			steps: []string{"check"}, void: true,
		},
		{
			name: "held after a wave", phase: refitv1alpha1.ComponentApplying, permit: refitv1alpha1.PermitHold,
			steps: []string{"check", "wave-all"}, continues: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			order := &cluster.ComponentUpgrade{
				Spec:   refitv1alpha1.ComponentUpgradeSpec{Sequence: 1, Permit: c.permit},
				Status: refitv1alpha1.ComponentUpgradeStatus{ObservedSequence: 1, Phase: c.phase},
			}
			for _, name := range c.steps {
				order.Status.Steps = append(order.Status.Steps, refitv1alpha1.StepStatus{Name: name, State: refitv1alpha1.StepDone})
			}
			if got := Void(order, c.retry); got != c.void {
				t.Errorf("void: %v", got)
			}
			if got := Continues(order, c.retry); got != c.continues {
				t.Errorf("continues: %v", got)
			}
		})
	}
}
