package observe

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
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

// Served reports whether the cluster serves all of these kinds. An older installation of Refit may
// lack some.
func Served(mapper meta.RESTMapper, scheme *runtime.Scheme, kinds ...client.Object) (bool, error) {
	for _, kind := range kinds {
		gvk, err := apiutil.GVKForObject(kind, scheme)
		if err != nil {
			return false, fmt.Errorf("cannot watch %T: %w", kind, err)
		}
		_, err = mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if meta.IsNoMatchError(err) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("cannot watch %T: %w", kind, err)
		}
	}
	return true, nil
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
