package components

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/steps"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// errSecondWriter is returned if somebody else has written the journal. The caller reads it again:
// the other writer is the leader.
var errSecondWriter = errors.New("another process has written the journal")

// journal is the status of a ComponentUpgrade.
type journal struct {
	client client.Client
	now    func() time.Time
	// object is what is stored.
	object  *refitv1alpha1.ComponentUpgrade
	refusal *component.Refusal
	// waited is when status.waiting was last written.
	waited time.Time
}

// read reads the journal of a component.
func readJournal(ctx context.Context, c client.Client, name string, now func() time.Time) (*journal, error) {
	object := &refitv1alpha1.ComponentUpgrade{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		return nil, err
	}
	return &journal{client: c, now: now, object: object}, nil
}

// maxConflicts bounds how often a status is written again because the order has changed meanwhile.
const maxConflicts = 5

// change stores a changed status. The resourceVersion that was read is part of the write, so that
// it fails if the status is not the one that the change was decided on. An order that has changed
// meanwhile does not matter.
func (j *journal) change(ctx context.Context, change func(*refitv1alpha1.ComponentUpgradeStatus)) error {
	for range maxConflicts {
		next := j.object.DeepCopy()
		change(&next.Status)
		if next.Spec.Sequence == next.Status.ObservedSequence || j.refusal != nil {
			component.Conditions(&next.Status, next.Generation, j.refusal, j.now())
		} else {
			component.Conditions(&next.Status, next.Status.ObservedGeneration, j.refusal, j.now())
		}
		if apiequality.Semantic.DeepEqual(next.Status, j.object.Status) {
			return nil
		}
		wanted := next.Status.DeepCopy()
		err := j.client.Status().Update(ctx, next, client.FieldOwner(steps.Manager))
		if err == nil {
			j.object = next
			return nil
		}
		if !apierrors.IsConflict(err) {
			return fmt.Errorf("cannot write the journal: %w", err)
		}
		done, err := j.reread(ctx, wanted)
		if done || err != nil {
			return err
		}
	}
	return errSecondWriter
}

// reread reads the object after a conflict. It reports whether the wanted status is stored already:
// the response of the write was lost then.
func (j *journal) reread(ctx context.Context, wanted *refitv1alpha1.ComponentUpgradeStatus) (bool, error) {
	fresh := &refitv1alpha1.ComponentUpgrade{}
	if err := j.client.Get(ctx, client.ObjectKeyFromObject(j.object), fresh); err != nil {
		return false, fmt.Errorf("cannot read the journal: %w", err)
	}
	switch {
	case fresh.UID != j.object.UID:
		return false, errSecondWriter
	case apiequality.Semantic.DeepEqual(&fresh.Status, wanted):
		j.object = fresh
		return true, nil
	case !apiequality.Semantic.DeepEqual(fresh.Status, j.object.Status):
		return false, errSecondWriter
	}
	j.object = fresh
	return false, nil
}

// state returns the state of the steps. While another order is refused, what was started waits as
// under Hold: its open step is completed, and its freeze is lifted.
func (j *journal) state(list []component.Step) component.State {
	spec := j.object.Spec
	if j.refusal != nil {
		spec.Permit = refitv1alpha1.PermitHold
	}
	return component.Read(list, &spec, &j.object.Status)
}

// store stores states of the steps, which follow one another, in one write.
func (j *journal) store(ctx context.Context, states ...component.State) error {
	return j.storeAnd(ctx, func(*refitv1alpha1.ComponentUpgradeStatus) {}, states...)
}

// storeAnd stores states and another change of the status in one write.
func (j *journal) storeAnd(ctx context.Context, also func(*refitv1alpha1.ComponentUpgradeStatus), states ...component.State) error {
	return j.change(ctx, func(status *refitv1alpha1.ComponentUpgradeStatus) {
		for _, s := range states {
			*status = s.Write(*status, j.now())
		}
		status.Waiting = ""
		also(status)
	})
}

// waitInterval is the time between two writes of what a step waits for.
const waitInterval = 5 * time.Second

// wait stores what a step waits for. It is not part of the journal, so it may fail.
func (j *journal) wait(ctx context.Context, what string) error {
	what = refitv1alpha1.Clip(node.Redact(what), refitv1alpha1.MaxMessage)
	if what == j.object.Status.Waiting || j.now().Sub(j.waited) < waitInterval {
		return nil
	}
	j.waited = j.now()
	return j.change(ctx, func(status *refitv1alpha1.ComponentUpgradeStatus) { status.Waiting = what })
}
