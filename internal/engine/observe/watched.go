package observe

import (
	"context"
	"fmt"
	"reflect"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Watched are objects as a cache holds them, by their kind. They are shared, so nobody may change one: to copy five thousand of each would take longer than
// the decision that they are looked at for.
type Watched map[reflect.Type]interface{ List() []any }

// Watch watches objects of these kinds, from when the cache is started.
func Watch(ctx context.Context, informers cache.Informers, kinds ...client.Object) (Watched, error) {
	out := Watched{}
	for _, kind := range kinds {
		informer, err := informers.GetInformer(ctx, kind)
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
		shared, is := informer.(interface{ GetStore() toolscache.Store })
		if !is {
			return nil, fmt.Errorf("watching %T: a %T shows nothing of what it holds", kind, informer)
		}
		out[reflect.TypeOf(kind)] = shared.GetStore()
	}
	return out, nil
}

// each are all objects of a kind, in no order. A kind that nobody watches is an error: it would look as if there were none.
func each[T any](w Watched) ([]*T, error) {
	store := w[reflect.TypeFor[*T]()]
	if store == nil {
		return nil, fmt.Errorf("nobody watches %s", reflect.TypeFor[T]())
	}
	held := store.List()
	out := make([]*T, 0, len(held))
	for _, object := range held {
		if typed, is := object.(*T); is {
			out = append(out, typed)
		}
	}
	return out, nil
}
