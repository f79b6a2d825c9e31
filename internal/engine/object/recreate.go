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

// Recreation is what must be saved of objects that are recreated, so that another try neither
// deletes the new ones nor forgets one that does not exist yet.
type Recreation struct {
	// Old are the objects before it.
	Old []Identity
	// Deleting is the last one that an earlier try has deleted.
	Deleting types.UID
	// Save saves which object is deleted next.
	Save func(types.UID) error
}

// Identities returns every object of a kind.
func (e *Editor) Identities(ctx context.Context, kind string) (identities []Identity, err error) {
	err = e.each(ctx, kind, func(o *unstructured.Unstructured) error {
		identities = append(identities, Identity{Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()})
		return nil
	})
	return identities, err
}

// Recreate deletes objects of a kind one by one, and waits until their controller has created each
// again and it is ready. One that somebody else has deleted is skipped: no controller may create it
// again.
func (e *Editor) Recreate(ctx context.Context, objects refitv1alpha1.RecipeObjects, r Recreation) error {
	if len(r.Old) == 0 {
		return nil
	}
	gvk, err := e.kindOf(objects.Kind)
	if err != nil {
		return err
	}
	for _, identity := range r.Old {
		var o unstructured.Unstructured
		o.SetGroupVersionKind(gvk)
		o.SetNamespace(identity.Namespace)
		o.SetName(identity.Name)
		o.SetUID(identity.UID)
		exists, err := e.delete(ctx, &o, r)
		if err != nil {
			return err
		}
		if !exists {
			continue
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

// delete deletes an object unless it is another one already. It returns false if somebody else has
// deleted it.
func (e *Editor) delete(ctx context.Context, o *unstructured.Unstructured, r Recreation) (bool, error) {
	live := o.DeepCopy()
	err := e.Client.Get(ctx, client.ObjectKeyFromObject(o), live)
	switch {
	case deleted(err):
		return o.GetUID() == r.Deleting, nil
	case err != nil:
		return false, fmt.Errorf("cannot read %s: %w", nameOf(o), err)
	case live.GetUID() != o.GetUID():
		return true, nil
	case live.GetDeletionTimestamp() != nil && o.GetUID() != r.Deleting:
		return false, nil
	}
	if o.GetUID() != r.Deleting {
		if err := r.Save(o.GetUID()); err != nil {
			return false, err
		}
	}
	uid := o.GetUID()
	err = e.Client.Delete(ctx, o, client.Preconditions{UID: &uid})
	if err != nil && !deleted(err) && !apierrors.IsConflict(err) { // a conflict: it is another one already
		return false, fmt.Errorf("cannot delete %s: %w", nameOf(o), err)
	}
	return true, nil
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
