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

	Components        = refitv1alpha1.GroupVersion.WithResource("components")
	ComponentUpgrades = refitv1alpha1.GroupVersion.WithResource("componentupgrades")
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

// Follow passes every state of one object to done until done returns true. The API may be
// unreachable in between.
func Follow[T any](ctx context.Context, b *Bed, resource schema.GroupVersionResource, name string, done func(*T) (enough bool)) error {
	only := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	return again(ctx, func() (bool, error) {
		return once(ctx, b, resource, only, func() {}, func(_ watch.EventType, object *T) bool { return done(object) })
	})
}

// Watch passes every state of all objects of a resource to handle until the context ends. Before
// each list it calls reset, then it passes all objects.
func Watch[T any](ctx context.Context, b *Bed, resource schema.GroupVersionResource, reset func(), handle func(watch.EventType, *T)) {
	_ = again(ctx, func() (bool, error) {
		return once(ctx, b, resource, "", reset, func(event watch.EventType, object *T) bool { handle(event, object); return false })
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
	ctx context.Context, b *Bed, resource schema.GroupVersionResource, selector string, reset func(), handle func(watch.EventType, *T) bool,
) (enough bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	options := metav1.ListOptions{FieldSelector: selector}
	short, stop := Soon(ctx)
	list, err := b.Objects.Resource(resource).List(short, options)
	stop()
	if err != nil {
		return false, err
	}
	reset()
	for i := range list.Items {
		if done, err := convert(watch.Added, &list.Items[i], handle); done || err != nil {
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
			if done, err := convert(event.Type, object, handle); done || err != nil {
				return done, err
			}
		case <-ctx.Done():
			return false, nil
		}
	}
}

// convert converts an object to its type and passes it to handle.
func convert[T any](event watch.EventType, object *unstructured.Unstructured, handle func(watch.EventType, *T) bool) (bool, error) {
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return false, err
	}
	return handle(event, &typed), nil
}
