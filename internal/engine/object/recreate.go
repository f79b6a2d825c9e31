package object

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Identity is an object that is recreated.
type Identity struct {
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
}

// Identities returns every object of a kind. They are saved before the objects are recreated, so
// that another try neither deletes the new ones nor forgets those that do not exist yet.
func (e *Editor) Identities(ctx context.Context, kind string) (identities []Identity, err error) {
	err = e.each(ctx, kind, func(o *unstructured.Unstructured) error {
		identities = append(identities, Identity{Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()})
		return nil
	})
	return identities, err
}

// Recreate deletes objects of a kind one by one, and waits until their controller has created each
// again and it is ready.
func (e *Editor) Recreate(ctx context.Context, objects refitv1alpha1.RecipeObjects, old []Identity) error {
	if len(old) == 0 {
		return nil
	}
	gvk, err := e.kindOf(objects.Kind)
	if err != nil {
		return err
	}
	for _, identity := range old {
		var o unstructured.Unstructured
		o.SetGroupVersionKind(gvk)
		o.SetNamespace(identity.Namespace)
		o.SetName(identity.Name)
		o.SetUID(identity.UID)
		err := e.Client.Delete(ctx, &o, client.Preconditions{UID: &identity.UID})
		if err != nil && !deleted(err) && !apierrors.IsConflict(err) { // a conflict: it is another one already
			return fmt.Errorf("cannot delete %s: %w", nameOf(&o), err)
		}
		if err := e.again(ctx, &o, objects.Limit.Duration); err != nil {
			return err
		}
		if objects.Until == "" {
			continue
		}
		if err := e.ready(ctx, &o, objects.Limit.Duration); err != nil {
			return err
		}
	}
	return nil
}

// again waits until an object with another UID exists.
func (e *Editor) again(ctx context.Context, o *unstructured.Unstructured, limit time.Duration) error {
	return e.await(ctx, func(ctx context.Context) error { return e.waitAgain(ctx, o, limit) })
}

func (e *Editor) waitAgain(ctx context.Context, o *unstructured.Unstructured, limit time.Duration) error {
	if limit == 0 {
		limit = defaultLimit
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	live := o.DeepCopy()
	err := wait.PollUntilContextCancel(bounded, readyInterval, true, func(ctx context.Context) (bool, error) {
		err := e.Client.Get(ctx, client.ObjectKeyFromObject(o), live)
		return err == nil && live.GetUID() != o.GetUID(), nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &NotReadyError{Object: nameOf(o), Status: "NotFound", Message: "its controller did not create it again", Limit: limit}
}
