package apiserver

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Load creates objects of built-in kinds, many at a time and as fast as the server accepts them,
// and returns how many. It writes the status separately where the server drops it from a new
// object, as it does with Pods. An object that exists already is an error.
//
// Objects are read from one goroutine, and must not be used again.
func (s *Server) Load(tb testing.TB, workers int, objects iter.Seq[runtime.Object]) int {
	tb.Helper()
	l, err := s.newLoader()
	if err != nil {
		tb.Fatalf("loading: %v", err)
	}
	count, err := l.load(tb.Context(), workers, objects)
	if err != nil {
		tb.Fatalf("loading: %v", err)
	}
	return count
}

// A loader creates objects through protobuf clients, one for each group and version.
type loader struct {
	config  *rest.Config
	mapper  meta.RESTMapper
	mu      sync.Mutex
	clients map[schema.GroupVersion]*rest.RESTClient
}

func (s *Server) newLoader() (*loader, error) {
	finder, err := discovery.NewDiscoveryClientForConfig(s.harness)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(finder)
	if err != nil {
		return nil, fmt.Errorf("cannot list the resources to load: %w", err)
	}
	return &loader{
		config: s.harness, mapper: restmapper.NewDiscoveryRESTMapper(groups), clients: map[schema.GroupVersion]*rest.RESTClient{},
	}, nil
}

func (l *loader) load(ctx context.Context, workers int, objects iter.Seq[runtime.Object]) (int, error) {
	group, ctx := errgroup.WithContext(ctx)
	queue := make(chan runtime.Object, workers)
	for range workers {
		group.Go(func() error {
			for object := range queue {
				if err := l.create(ctx, object); err != nil {
					return err
				}
			}
			return nil
		})
	}
	count := 0
	for object := range objects {
		select {
		case queue <- object:
			count++
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	return count, group.Wait()
}

func (l *loader) create(ctx context.Context, object runtime.Object) error {
	kinds, _, err := clientgoscheme.Scheme.ObjectKinds(object)
	if err != nil {
		return err
	}
	kind := kinds[0]
	mapping, err := l.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	client, err := l.client(kind.GroupVersion())
	if err != nil {
		return err
	}
	named, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	describe := func(err error) error { return fmt.Errorf("%s %s: %w", kind.Kind, named.GetName(), err) }
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	made, err := clientgoscheme.Scheme.New(kind)
	if err != nil {
		return describe(err)
	}
	err = client.Post().NamespaceIfScoped(named.GetNamespace(), namespaced).Resource(mapping.Resource.Resource).
		VersionedParams(&metav1.CreateOptions{}, clientgoscheme.ParameterCodec).Body(object).Do(ctx).Into(made)
	if err != nil {
		return describe(err)
	}
	if keptStatus(object, made) {
		return nil
	}
	err = client.Put().NamespaceIfScoped(named.GetNamespace(), namespaced).Resource(mapping.Resource.Resource).
		Name(named.GetName()).SubResource("status").Body(object).Do(ctx).Error()
	if err != nil {
		return describe(err)
	}
	return nil
}

// keptStatus reports whether the created object has the wanted status, if any.
func keptStatus(wanted, made runtime.Object) bool {
	status := reflect.ValueOf(wanted).Elem().FieldByName("Status")
	return !status.IsValid() || status.IsZero() ||
		equality.Semantic.DeepEqual(status.Interface(), reflect.ValueOf(made).Elem().FieldByName("Status").Interface())
}

// client finds or creates the client of a group and version.
func (l *loader) client(version schema.GroupVersion) (*rest.RESTClient, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if client := l.clients[version]; client != nil {
		return client, nil
	}
	config := rest.CopyConfig(l.config)
	config.GroupVersion = &version
	config.APIPath = "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = clientgoscheme.Codecs.WithoutConversion()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	l.clients[version] = client
	return client, nil
}
