package steps

import (
	"context"

	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Action implements a kind of step.
type Action func(ctx context.Context, r *Run, step component.Step) error

// Actions has one entry for each kind of step of an installation or upgrade.
var Actions = map[component.StepKind]Action{
	component.StepCheck:    check,
	component.StepSave:     save,
	component.StepFreeze:   freeze,
	component.StepKeepCRDs: keepCRDs,
	component.StepAdopt:    adopt,
	component.StepCRDs:     expandCRDs,
	component.StepWave:     wave,
	component.StepWait:     waitForObjects,
	component.StepTouch:    touch,
	component.StepRecreate: recreate,
	component.StepPatch:    patch,
	component.StepRemove:   remove,
	component.StepVerify:   verify,
	component.StepCommit:   commit,
	component.StepSweep:    sweep,
}

// Undos has one entry for each kind of step of a rollback.
var Undos = map[component.StepKind]Action{
	component.StepUnflip:    unflip,
	component.StepCRDs:      restoreCRDs,
	component.StepWave:      undoWave,
	component.StepTouch:     touch,
	component.StepRecreate:  recreate,
	component.StepPatch:     unpatch,
	component.StepRemove:    unremove,
	component.StepVerifyOld: verifyOld,
	component.StepSweep:     sweepBack,
}

// Do runs a step. A step of a rollback undoes another one, or belongs to no step at all.
func Do(ctx context.Context, r *Run, step component.Step, rollingBack bool) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if !rollingBack {
		return Actions[step.Kind](ctx, r, step)
	}
	if r.saved == nil { // nothing was changed
		return nil
	}
	return Undos[step.Kind](ctx, r, step)
}
