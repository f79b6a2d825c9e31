package bed

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Resources of Refit's API.
var (
	Operations   = refitv1alpha1.GroupVersion.WithResource("clusterupgrades")
	NodeUpgrades = refitv1alpha1.GroupVersion.WithResource("nodeupgrades")
	NodeReports  = refitv1alpha1.GroupVersion.WithResource("nodereports")
	Releases     = refitv1alpha1.GroupVersion.WithResource("clusterreleases")
)

// Get reads one object.
func Get[T any](ctx context.Context, b *Bed, resource schema.GroupVersionResource, name string) (*T, error) {
	found, err := b.Objects.Resource(resource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var object T
	return &object, runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &object)
}

// watchFor limits the duration of one watch: a connection through a load balancer may hang after
// its API server died.
const watchFor = 15 * time.Second

// Follow passes every state of one object to look until look returns true. The API may be
// unreachable in between.
func Follow[T any](ctx context.Context, b *Bed, resource schema.GroupVersionResource, name string, look func(*T) (enough bool)) error {
	only := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	return again(ctx, func() (bool, error) {
		return once(ctx, b, resource, only, func() {}, func(_ watch.EventType, object *T) bool { return look(object) })
	})
}

// Watch passes every state of all objects of a resource to see until the context ends. Before each
// list it calls anew, then passes all objects.
func Watch[T any](ctx context.Context, b *Bed, resource schema.GroupVersionResource, anew func(), see func(watch.EventType, *T)) {
	_ = again(ctx, func() (bool, error) {
		return once(ctx, b, resource, "", anew, func(event watch.EventType, object *T) bool { see(event, object); return false })
	}) // returns only when the context ends
}

// again calls try until it returns true.
func again(ctx context.Context, try func() (enough bool, err error)) error {
	var last error
	for {
		enough, err := try()
		if enough {
			return nil
		}
		if err != nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (the last error: %v)", ctx.Err(), last) //nolint:errorlint // a timeout is what the caller looks for
		case <-time.After(Pause):
		}
	}
}

// once lists and watches until the watch ends.
func once[T any](
	ctx context.Context, b *Bed, resource schema.GroupVersionResource, selector string, anew func(), see func(watch.EventType, *T) bool,
) (enough bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	options := metav1.ListOptions{FieldSelector: selector}
	asking, stop := Soon(ctx)
	list, err := b.Objects.Resource(resource).List(asking, options)
	stop()
	if err != nil {
		return false, err
	}
	anew()
	for i := range list.Items {
		if done, err := show(watch.Added, &list.Items[i], see); done || err != nil {
			return done, err
		}
	}
	options.ResourceVersion = list.GetResourceVersion()
	watching, err := b.Objects.Resource(resource).Watch(ctx, options)
	if err != nil {
		return false, err
	}
	defer watching.Stop()
	for {
		select {
		case event, open := <-watching.ResultChan():
			object, ok := event.Object.(*unstructured.Unstructured)
			if !open || !ok || event.Type == watch.Error {
				return false, nil
			}
			if done, err := show(event.Type, object, see); done || err != nil {
				return done, err
			}
		case <-ctx.Done():
			return false, nil
		}
	}
}

// show converts an object to its type and passes it to see.
func show[T any](event watch.EventType, object *unstructured.Unstructured, see func(watch.EventType, *T) bool) (bool, error) {
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return false, err
	}
	return see(event, &typed), nil
}
