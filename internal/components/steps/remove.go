package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// removedTimeout is how long a removal waits until its objects do not exist any more. Their
// finalizers may need somebody: the removal does not depend on that.
const removedTimeout = 2 * time.Minute

// remove writes a revision without objects, so that Helm deletes all of them. The revision before
// it stays until the end, for a rollback.
func remove(ctx context.Context, r *Run, step component.Step) error {
	archive, err := r.Chart(ctx)
	if err != nil {
		return err
	}
	chart, err := helm.Load(archive)
	if err != nil {
		return err
	}
	s := r.saved
	empty := helm.Upgrade{Chart: chart, Values: s.Values, Capabilities: s.Capabilities, From: s.Revision, Deletions: s.Deletions}
	if err := r.helm().Wave(ctx, r.mark(step.Name), empty, helm.Wave{Last: true}); err != nil {
		return err
	}
	record, err := r.helm().Revision(ctx, s.Revision)
	if err != nil {
		return err
	}
	refs := make([]helm.Ref, len(record.Objects))
	for i := range record.Objects {
		refs[i] = record.Objects[i].Ref
	}
	return r.removed(ctx, refs)
}

// removed waits until the deleted objects do not exist any more, and reports those that stay.
func (r *Run) removed(ctx context.Context, refs []helm.Ref) error {
	bounded, cancel := context.WithTimeout(ctx, removedTimeout)
	defer cancel()
	var left []helm.Ref
	err := wait.PollUntilContextCancel(bounded, time.Second, true, func(ctx context.Context) (bool, error) {
		found, err := r.helm().Existing(ctx, refs)
		if err != nil {
			return false, err
		}
		if left = found; len(left) > 0 {
			r.Waiting(fmt.Sprintf("%d objects are deleted, such as %s", len(left), left[0]))
		}
		return len(left) == 0, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		for _, ref := range left {
			r.leave(fmt.Sprintf("%s is being deleted, and its finalizers keep it", ref))
		}
		return nil
	}
	return err
}

// forget deletes what hooks have left, and the record of the Helm release.
func (r *Run) forget(ctx context.Context) error {
	_, err := r.helm().Sweep(ctx, r.saved.Deletions)
	if errors.Is(err, helm.ErrNoRelease) { // an earlier attempt was complete
		return nil
	}
	if err != nil {
		return err
	}
	return r.helm().Forget(ctx, r.mark(string(component.StepRemove)))
}

// unremove creates the objects again.
func unremove(ctx context.Context, r *Run, step component.Step) error {
	if err := r.helm().Rollback(ctx, r.mark(step.Name), r.saved.Revision, nil, 0); err != nil {
		return err
	}
	record, err := r.helm().Revision(ctx, r.saved.Revision)
	if err != nil {
		return err
	}
	return r.ready(ctx, record.Objects, helm.Wave{Last: true})
}
