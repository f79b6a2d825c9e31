package steps

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestEveryStepHasAnActionAndEveryActionAStep(t *testing.T) {
	whole := node.Upgrade{
		Role: refitv1alpha1.RoleFirstControlPlane, Etcd: true, StopAPIServer: true,
		Parts: []refitv1alpha1.Part{refitv1alpha1.PartContainerd, refitv1alpha1.PartRunc, refitv1alpha1.PartCNI},
	}
	listed := map[string]bool{node.StepVerifyOld: true}
	for _, step := range node.Steps(whole) {
		listed[step.Name] = true
		action, ok := Actions[step.Name]
		switch {
		case !ok || action.Do == nil:
			t.Errorf("%s has no action", step.Name)
		case (step.Undo != node.UndoNothing) != (action.Undo != nil):
			t.Errorf("%s has the undo policy %q, and its action has an undo: %v", step.Name, step.Undo, action.Undo != nil)
		}
	}
	for name := range Actions {
		if !listed[name] {
			t.Errorf("%s is not a step of any host", name)
		}
	}
}

// A call of a package manager waits for a minute only, and the wait counts against the limit of the
// step: another package manager that takes longer would fail the upgrade.
func TestStepsThatUseThePackageManagerWaitForItFirst(t *testing.T) {
	for _, name := range []string{
		node.StepSave, node.StepStage, node.StepContainerd, node.StepRunc, node.StepCNI, node.StepKubelet,
	} {
		action := Actions[name]
		if action.Await == nil {
			t.Errorf("%s does not wait for other package managers", name)
		}
		if action.Undo != nil && action.AwaitUndo == nil {
			t.Errorf("the undo of %s does not wait for other package managers", name)
		}
	}
}
