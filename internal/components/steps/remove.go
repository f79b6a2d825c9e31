package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

const (
	// removedTimeout is how long a removal waits until its objects do not exist any more, or half
	// of the time that the step has left. Their finalizers may need somebody: the removal does not
	// depend on that.
	removedTimeout = 2 * time.Minute
	// removeFirst is the mark of the revision without what would be unavailable without the rest.
	removeFirst = "remove-first"
)

// remove writes a revision without objects, so that Helm deletes all of them. The revision before
// it stays until the end, for a rollback. Webhooks and aggregated APIs are deleted first: without
// their backends they would deny requests of others, and those of a rollback.
func remove(ctx context.Context, r *Run, step component.Step) error {
	refs, err := r.former(ctx)
	if err != nil {
		return err
	}
	last := r.mark(step.Name)
	started, err := r.helm().Started(ctx, last)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(refs, isFirst) && !started { // later it would create what is deleted already
		if err := r.clear(ctx, r.mark(removeFirst), func(ref helm.Ref) bool { return !isFirst(ref) }); err != nil {
			return err
		}
	}
	if err := r.clear(ctx, last, func(helm.Ref) bool { return false }); err != nil {
		return err
	}
	return r.removed(ctx, refs)
}

func (r *Run) clear(ctx context.Context, mark helm.Mark, stays func(helm.Ref) bool) error {
	return r.helm().Clear(ctx, mark, r.saved.Revision, r.saved.Capabilities, r.saved.Deletions, stays)
}

func isFirst(ref helm.Ref) bool {
	return ref.Group == "admissionregistration.k8s.io" || ref.Group == "apiregistration.k8s.io"
}

// former returns the objects of the revision that is removed.
func (r *Run) former(ctx context.Context) ([]helm.Ref, error) {
	record, err := r.helm().Revision(ctx, r.saved.Revision)
	if err != nil {
		return nil, err
	}
	refs := make([]helm.Ref, len(record.Objects))
	for i := range record.Objects {
		refs[i] = record.Objects[i].Ref
	}
	return refs, nil
}

// removed waits until the deleted objects do not exist any more, and reports those that stay.
func (r *Run) removed(ctx context.Context, refs []helm.Ref) error {
	timeout := removedTimeout
	if deadline, is := ctx.Deadline(); is {
		timeout = min(timeout, time.Until(deadline)/2)
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	left, err := r.gone(bounded, func(ctx context.Context) ([]helm.Ref, error) { return r.helm().Existing(ctx, refs) })
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		for _, ref := range left {
			r.leave(fmt.Sprintf("%s is being deleted, and its finalizers keep it", ref))
		}
		return nil
	}
	return err
}

// gone waits until a list of objects is empty, and returns the last one.
func (r *Run) gone(ctx context.Context, list func(context.Context) ([]helm.Ref, error)) (left []helm.Ref, err error) {
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		found, err := list(ctx)
		if err != nil {
			return false, err
		}
		if left = found; len(left) > 0 {
			r.Waiting(fmt.Sprintf("%d objects being deleted, such as %s", len(left), left[0]))
		}
		return len(left) == 0, nil
	})
	return left, err
}

// forget deletes what hooks have left, and the record of the Helm release.
func (r *Run) forget(ctx context.Context) error {
	swept, err := r.helm().Sweep(ctx, r.saved.Deletions)
	if errors.Is(err, helm.ErrNoRelease) { // an earlier attempt was complete
		return nil
	}
	if err != nil {
		return err
	}
	r.leaveOrphans(swept)
	return r.helm().Forget(ctx, r.mark(string(component.StepRemove)))
}

// unremove creates the objects again, once those that are being deleted do not exist any more: Helm
// would change them, and they would be deleted nevertheless.
func unremove(ctx context.Context, r *Run, step component.Step) error {
	refs, err := r.former(ctx)
	if err != nil {
		return err
	}
	left, err := r.gone(ctx, func(ctx context.Context) ([]helm.Ref, error) { return r.helm().Terminating(ctx, refs) })
	if errors.Is(err, context.DeadlineExceeded) && len(left) > 0 {
		return manual("ObjectTerminating", nil, "Find out what its finalizers wait for, or remove them with `kubectl edit`; then run `refit retry`",
			"%d objects are still being deleted, such as %s, which its finalizers keep", len(left), left[0])
	}
	if err != nil {
		return err
	}
	if err := r.helm().Rollback(ctx, r.mark(step.Name), r.saved.Revision, nil, 0); err != nil {
		return err
	}
	record, err := r.helm().Revision(ctx, r.saved.Revision)
	if err != nil {
		return err
	}
	return r.restored(ctx, step, record.Objects, helm.Wave{Last: true})
}
