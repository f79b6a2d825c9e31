package observe

import (
	"context"
	"fmt"
	"reflect"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Watched are the objects of a cache by kind. They are shared and must not be changed: copying
// thousands of them would take longer than the decision that uses them.
type Watched map[reflect.Type]interface{ List() []any }

// Watch watches objects of these kinds when the cache is started.
func Watch(ctx context.Context, informers cache.Informers, kinds ...client.Object) (Watched, error) {
	out := Watched{}
	for _, kind := range kinds {
		informer, err := informers.GetInformer(ctx, kind)
		if err != nil {
			return nil, fmt.Errorf("cannot watch %T: %w", kind, err)
		}
		shared, is := informer.(interface{ GetStore() toolscache.Store })
		if !is {
			return nil, fmt.Errorf("cannot watch %T: a %T has no store", kind, informer)
		}
		out[reflect.TypeOf(kind)] = shared.GetStore()
	}
	return out, nil
}

// each returns all objects of a kind, unsorted. It fails for a kind that is not watched.
func each[T any](w Watched) ([]*T, error) {
	store := w[reflect.TypeFor[*T]()]
	if store == nil {
		return nil, fmt.Errorf("%s is not watched", reflect.TypeFor[T]())
	}
	objects := store.List()
	out := make([]*T, 0, len(objects))
	for _, object := range objects {
		if typed, is := object.(*T); is {
			out = append(out, typed)
		}
	}
	return out, nil
}
