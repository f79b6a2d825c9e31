//go:build e2e

package agent

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// watchFor is how long one watch lasts: a connection through a load balancer whose API server died may hang.
const watchFor = 15 * time.Second

// follow shows every state of one object to look, until look says that it has seen enough. The API may be away meanwhile.
func follow[T any](ctx context.Context, b *bed, resource schema.GroupVersionResource, name string, look func(*T) (enough bool)) error {
	var last error
	for {
		enough, err := followOnce(ctx, b, resource, name, look)
		if enough {
			return nil
		}
		if err != nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (the last error: %v)", ctx.Err(), last) //nolint:errorlint // a timeout is what the caller looks for
		case <-time.After(pause):
		}
	}
}

// followOnce lists and watches until the watch ends.
func followOnce[T any](ctx context.Context, b *bed, resource schema.GroupVersionResource, name string, look func(*T) bool) (enough bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	only := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
	asking, stop := soon(ctx)
	list, err := b.objects.Resource(resource).List(asking, only)
	stop()
	if err != nil {
		return false, err
	}
	for i := range list.Items {
		if done, err := showTo(&list.Items[i], look); done || err != nil {
			return done, err
		}
	}
	only.ResourceVersion = list.GetResourceVersion()
	watching, err := b.objects.Resource(resource).Watch(ctx, only)
	if err != nil {
		return false, err
	}
	defer watching.Stop()
	for {
		select {
		case event, open := <-watching.ResultChan():
			object, ok := event.Object.(*unstructured.Unstructured)
			if !open || !ok || object.GetName() != name {
				return false, nil
			}
			if done, err := showTo(object, look); done || err != nil {
				return done, err
			}
		case <-ctx.Done():
			return false, nil
		}
	}
}

func showTo[T any](object *unstructured.Unstructured, look func(*T) bool) (bool, error) {
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return false, err
	}
	return look(&typed), nil
}
