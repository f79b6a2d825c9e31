package steps

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// waitForObjects waits until every object of a kind is ready.
func waitForObjects(ctx context.Context, r *Run, step component.Step) error {
	r.Waiting("not every " + step.Recipe.Wait.Kind + " is ready")
	return r.editor().Wait(ctx, step.Recipe.Wait.Kind, step.Recipe.Wait.Limit.Duration)
}

// touch annotates objects. The value names the step, so that a repetition changes nothing and an
// undo touches them again.
func touch(ctx context.Context, r *Run, step component.Step) error {
	objects := step.Recipe.Touch.RecipeObjects
	r.Waiting("every " + objects.Kind + " is being reconciled")
	return r.editorOf(step).Touch(ctx, objects, r.mark(step.Name).String())
}

// recreate deletes objects that their controller creates again. Those that exist are saved first,
// so that a repetition does not delete new ones.
func recreate(ctx context.Context, r *Run, step component.Step) error {
	objects := step.Recipe.Recreate.RecipeObjects
	if _, known := r.saved.Recreated[step.Name]; !known {
		identities, err := r.editor().Identities(ctx, objects.Kind)
		if err != nil {
			return err
		}
		if r.saved.Recreated == nil {
			r.saved.Recreated = map[string][]object.Identity{}
		}
		r.saved.Recreated[step.Name] = append([]object.Identity{}, identities...)
		if err := r.saved.write(ctx, r.client, r.Owner); err != nil {
			return err
		}
	}
	r.Waiting("every " + objects.Kind + " is being recreated")
	return r.editor().Recreate(ctx, objects, object.Recreation{
		Old: r.saved.Recreated[step.Name], Deleting: r.saved.Deleting[step.Name],
		Save: func(uid types.UID) error {
			if r.saved.Deleting == nil {
				r.saved.Deleting = map[string]types.UID{}
			}
			r.saved.Deleting[step.Name] = uid
			return r.saved.write(ctx, r.client, r.Owner)
		},
	})
}

// patch sets a field of objects. The values before it are saved first.
func patch(ctx context.Context, r *Run, step component.Step) error {
	p := step.Recipe.Patch
	value, err := r.expand(ctx, p)
	if err != nil {
		return err
	}
	if _, known := r.saved.Patched[step.Name]; !known {
		values, err := r.editor().Values(ctx, p.Kind, p.Path)
		if err != nil {
			return err
		}
		if r.saved.Patched == nil {
			r.saved.Patched, r.saved.Written = map[string]map[types.UID]any{}, map[string]string{}
		}
		r.saved.Patched[step.Name], r.saved.Written[step.Name] = values, value
		if err := r.saved.write(ctx, r.client, r.Owner); err != nil {
			return err
		}
	}
	r.Waiting("every " + p.Kind + " is being patched")
	return r.editor().Patch(ctx, p.RecipeObjects, p.Path, value)
}

// unpatch sets the field to its saved values. Without them nothing was patched.
func unpatch(ctx context.Context, r *Run, step component.Step) error {
	values, known := r.saved.Patched[step.Of]
	if !known {
		return nil
	}
	p := step.Recipe.Patch
	r.Waiting("every " + p.Kind + " is being patched")
	return r.editorOf(step).Unpatch(ctx, p.RecipeObjects, p.Path, r.saved.Written[step.Of], values)
}

// expand returns the value of a patch. It is the same each time.
func (r *Run) expand(ctx context.Context, p *refitv1alpha1.RecipePatch) (string, error) {
	found, err := r.rendered(ctx)
	if err != nil {
		return "", err
	}
	images := slices.Concat(found.Upgrade.Rendering.Images, r.Component.Images)
	variables := component.Variables{From: r.saved.From, To: r.Component.Version, Images: component.ImagesByName(images)}
	value, err := variables.Expand(p.Value)
	if err != nil {
		return "", manual("RecipeInvalid", err, "Publish a ClusterRelease with a recipe that fits its chart", "the value of a patch cannot be computed")
	}
	return value, nil
}

// sweep deletes what no revision has any more, and old revisions.
func sweep(ctx context.Context, r *Run, _ component.Step) error {
	if r.removes() {
		return r.forget(ctx)
	}
	return r.sweep(ctx, false)
}

// sweepBack deletes what the rollback left of the new version.
func sweepBack(ctx context.Context, r *Run, _ component.Step) error {
	if r.installs() {
		return nil
	}
	return r.sweep(ctx, true)
}

// keptRevisions is how many revisions of the Helm release stay, as Helm's own default.
const keptRevisions = 10

func (r *Run) sweep(ctx context.Context, back bool) error {
	approved := r.saved.Deletions
	if back {
		approved = r.saved.Created
	}
	swept, err := r.helm().Sweep(ctx, approved)
	if err != nil {
		return err
	}
	r.leaveOrphans(swept)
	return r.helm().Prune(ctx, keptRevisions)
}

func (r *Run) leaveOrphans(swept helm.Sweeping) {
	for _, orphan := range swept.Orphans {
		r.leave(fmt.Sprintf("%s is of a former revision, and its deletion was not approved", orphan))
	}
}
