// Package operationstest has a client for tests that keeps the objects of a cluster in memory.
package operationstest

import (
	"context"
	"errors"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
)

// NewClient returns a client with these objects.
func NewClient(tb testing.TB, objects ...client.Object) client.WithWatch {
	tb.Helper()
	scheme, err := operations.Scheme()
	if err != nil {
		tb.Fatal(err)
	}
	inMemory := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.EtcdBackup{}, &refitv1alpha1.BackupStore{}).
		WithIndex(&refitv1alpha1.ClusterUpgrade{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} }).
		Build()
	return interceptor.NewClient(inMemory, interceptor.Funcs{Watch: replay, Create: review})
}

// review allows everything: the client in memory stores objects, and an access review is none.
func review(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
	if access, is := object.(*authorizationv1.SelfSubjectAccessReview); is {
		access.Status.Allowed = true
		return nil
	}
	return c.Create(ctx, object, options...)
}

// replay starts a watch with the existing objects: the client in memory does not keep events
// between a list and its watch.
func replay(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	inner, err := c.Watch(ctx, list, options...)
	if err != nil || (&client.ListOptions{}).ApplyOptions(options).Raw == nil {
		return inner, err
	}
	now, ok := list.DeepCopyObject().(client.ObjectList)
	if !ok {
		return nil, errors.New("a list is no list")
	}
	if err := c.List(ctx, now); err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(now)
	if err != nil {
		return nil, err
	}
	out := make(chan watch.Event, len(items))
	for _, item := range items {
		out <- watch.Event{Type: watch.Modified, Object: item}
	}
	proxy := watch.NewProxyWatcher(out)
	go func() {
		defer close(out)
		defer inner.Stop()
		for {
			select {
			case event := <-inner.ResultChan():
				select {
				case out <- event:
				case <-proxy.StopChan():
					return
				}
			case <-proxy.StopChan():
				return
			}
		}
	}()
	return proxy, nil
}
