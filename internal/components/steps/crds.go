package steps

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// changes returns the changes of CRDs, from what was saved.
func (r *Run) changes(ctx context.Context) ([]crd.Change, error) {
	found, err := r.rendered(ctx)
	if err != nil {
		return nil, err
	}
	return r.saved.crds.Changes(found.Definitions...), nil
}

// ours returns the changes of CRDs that a rollback undoes. A CRD that somebody else has changed
// or deleted since stays as it is: the rollback of everything else must not wait for it.
func (r *Run) ours(ctx context.Context) ([]crd.Change, error) {
	changes, err := r.changes(ctx)
	if err != nil {
		return nil, err
	}
	ours, others, err := r.crds.Ours(ctx, changes)
	for _, other := range others {
		r.leave(other.Error())
	}
	return ours, err
}

// expandCRDs upgrades the CRDs. Objects stay in their storage version where that is possible.
func expandCRDs(ctx context.Context, r *Run, _ component.Step) error {
	changes, err := r.changes(ctx)
	if err != nil {
		return err
	}
	decisions, err := r.crds.Expand(ctx, changes)
	for _, decision := range decisions {
		r.Log.InfoContext(ctx, "CRD upgraded", "component", r.name(), "mode", decision.Mode, "message", decision.Message)
	}
	return err
}

// commit changes the storage version of CRDs, and rewrites their objects.
func commit(ctx context.Context, r *Run, _ component.Step) error {
	if r.removes() { // its CRDs stay as they are
		return nil
	}
	changes, err := r.changes(ctx)
	if err != nil {
		return err
	}
	return r.crds.Commit(ctx, changes, crd.CommitOptions{Rewrite: true, Progress: r.progress})
}

func (r *Run) progress(p crd.Progress) {
	r.Waiting(fmt.Sprintf("%d objects of %s are rewritten, %d remain", p.Objects, p.Definition, p.Remaining))
}

// unflip stores objects in the old version again, while the new conversion webhook runs.
func unflip(ctx context.Context, r *Run, _ component.Step) error {
	changes, err := r.ours(ctx)
	if err != nil {
		return err
	}
	return r.keepOnLoss(r.crds.Unflip(ctx, changes, crd.UnflipOptions{Progress: r.progress}))
}

// restoreCRDs applies the old CRDs. Those whose objects would be refused or lose fields stay, and
// the old version must verify with them.
func restoreCRDs(ctx context.Context, r *Run, _ component.Step) error {
	changes, err := r.ours(ctx)
	if err != nil {
		return err
	}
	restored, err := r.crds.Restore(ctx, changes, crd.RestoreOptions{})
	for _, kept := range restored.Kept {
		if kept.Objects == 0 {
			r.leave(fmt.Sprintf("CRD %s is new, and none of its versions is served, so that its objects are unknown", kept.Name))
			continue
		}
		r.leave(fmt.Sprintf("CRD %s is new and has %d objects", kept.Name, kept.Objects))
	}
	return r.keepOnLoss(err)
}

// keepOnLoss reports CRDs that stay as they are, since their objects would lose something.
func (r *Run) keepOnLoss(err error) error {
	loss, ok := errors.AsType[*crd.LossError](err)
	if !ok {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(loss.Reports)) {
		report := loss.Reports[name]
		what := fmt.Sprintf("CRD %s stays at the new version: its old one refuses %d objects and drops fields of %d", name, report.Refused, report.Dropping)
		if len(report.Findings) > 0 {
			f := report.Findings[0]
			what += fmt.Sprintf(", such as %s of %s", f.Field, f.Object)
		}
		r.leave(what)
	}
	return nil
}

func (r *Run) leave(what string) {
	if !slices.Contains(r.Left, what) {
		r.Left = append(r.Left, what)
	}
}
