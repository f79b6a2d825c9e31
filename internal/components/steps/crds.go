package steps

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
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
	err = r.crds.Commit(ctx, changes, crd.CommitOptions{Rewrite: true, Progress: r.progress, Skipped: func(skipped *crd.ChangedError) {
		r.leave(fmt.Sprintf("CRD %s stays as it is: %s", skipped.Name, skipped.Cause))
	}})
	if _, changed := errors.AsType[*crd.ChangedError](err); changed {
		return manual("CRDChanged", err, remedyUncommitted, "the upgrade cannot be completed, and is no longer rolled back")
	}
	return err
}

// remedyUncommitted names both ways to a CRD whose objects are in the new version only.
const remedyUncommitted = "Undo the change of the CRD. Or make the version in the message its storage version, write all its objects again, " +
	"and remove the others from status.storedVersions (`kubectl edit crd NAME --subresource=status`). Then run `refit retry`"

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
	restored, err := r.crds.Restore(ctx, changes, crd.RestoreOptions{Guard: r.guard()})
	for _, kept := range restored.Kept {
		if kept.Objects == 0 {
			r.leave(fmt.Sprintf("CRD %s is new, and it is unknown whether it has objects", kept.Name))
			continue
		}
		r.leave(fmt.Sprintf("CRD %s is new and has %d objects", kept.Name, kept.Objects))
	}
	if slices.ContainsFunc(changes, func(c crd.Change) bool { return c.Old == nil }) {
		return errors.Join(r.unguard(ctx), r.keepOnLoss(err))
	}
	return r.keepOnLoss(err)
}

const (
	// guardLimit is how long the objects of new CRDs cannot be created at most.
	guardLimit = 2 * time.Minute
	// guardDelay is how long the other API servers may take to apply a policy.
	guardDelay = 2 * time.Second
)

// guard returns what denies the creation of objects of CRDs that are deleted. It is nil if the
// order has lifted all freezes.
func (r *Run) guard() func(context.Context, []string) error {
	if r.Owner.Spec.Thaw {
		return nil
	}
	return func(ctx context.Context, names []string) error {
		if err := r.Freeze(ctx, guardLimit); err != nil { // so that whoever reads the journal lifts it
			return err
		}
		denied := refitv1alpha1.RecipeDeny{Operations: []string{"CREATE"}, Resources: names} // a CRD is named PLURAL.GROUP
		if err := r.freezer().Guard(ctx, r.name(), refitv1alpha1.RecipeFreeze{Deny: denied}); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(guardDelay):
			return nil
		}
	}
}

// unguard lifts the guard, even if the time of the step is over.
func (r *Run) unguard(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), guardLimit)
	defer cancel()
	return r.freezer().Unguard(bounded, r.name())
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
