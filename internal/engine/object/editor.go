package object

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// AnnotationTouched is set on an object so that its controller reconciles it.
const AnnotationTouched = "refit.dev/touched"

// defaultLimit is how long an object may take to become ready if the recipe has no limit.
const defaultLimit = 5 * time.Minute

// Editor touches, patches and recreates objects.
type Editor struct {
	Client client.Client
	// Manager is the field manager of the changes.
	Manager string
	// Await runs a wait for one object, which it may end early with an error of its own. If it is
	// nil, waits end with their contexts.
	Await func(ctx context.Context, wait func(context.Context) error) error
	// Unready is called with the first changed object that does not become ready. The others are
	// changed as well then, and none is waited for. If it is nil, the first one ends the change.
	Unready func(*NotReadyError)

	gaveUp bool // Unready was called
}

func (e *Editor) await(ctx context.Context, wait func(context.Context) error) error {
	if e.Await == nil {
		return wait(ctx)
	}
	return e.Await(ctx, wait)
}

// Touch annotates every object of a kind with a value that is the same in every try of a step.
func (e *Editor) Touch(ctx context.Context, objects refitv1alpha1.RecipeObjects, value string) error {
	return e.change(ctx, objects, func(o *unstructured.Unstructured) (map[string]any, error) {
		if o.GetAnnotations()[AnnotationTouched] == value {
			return nil, nil
		}
		return map[string]any{"metadata": map[string]any{"annotations": map[string]any{AnnotationTouched: value}}}, nil
	})
}

// change patches each object of a kind that needs it, and waits for each or for all of them.
func (e *Editor) change(ctx context.Context, objects refitv1alpha1.RecipeObjects, patchOf func(*unstructured.Unstructured) (map[string]any, error)) error {
	var changed []*unstructured.Unstructured
	err := e.each(ctx, objects.Kind, func(o *unstructured.Unstructured) error {
		if err := e.patch(ctx, o, patchOf); deleted(err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("cannot change %s: %w", nameOf(o), err)
		}
		if objects.Until == "" {
			return nil
		}
		if objects.OneByOne {
			return e.ready(ctx, o, objects.Limit.Duration)
		}
		changed = append(changed, o)
		return nil
	})
	if err != nil {
		return err
	}
	for _, o := range changed {
		if err := e.ready(ctx, o, objects.Limit.Duration); err != nil {
			return err
		}
	}
	return nil
}

// patch patches an object. One that somebody else changes meanwhile is read again.
func (e *Editor) patch(ctx context.Context, o *unstructured.Unstructured, patchOf func(*unstructured.Unstructured) (map[string]any, error)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		patch, err := patchOf(o)
		if err != nil || patch == nil {
			return err
		}
		content, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		err = e.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, content), client.FieldOwner(e.Manager))
		if apierrors.IsConflict(err) {
			if read := e.Client.Get(ctx, client.ObjectKeyFromObject(o), o); read != nil {
				return read
			}
		}
		return err
	})
}
