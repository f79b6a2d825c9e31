package helm

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// lookups answers what a chart looks up with known objects, and records what it does not find. Helm
// alone would find a live object, such as the Secret with a password that the chart must not create
// again.
type lookups struct {
	namespace string // of the release
	objects   map[Ref]*unstructured.Unstructured
	mu        sync.Mutex
	missed    map[Ref]bool
}

func newLookups(namespace string, objects []Object) *lookups {
	l := &lookups{namespace: namespace, objects: map[Ref]*unstructured.Unstructured{}, missed: map[Ref]bool{}}
	for _, object := range objects {
		l.objects[object.Ref] = served(object.Content, namespace)
	}
	return l
}

// served returns an object of a manifest with what an API server changes and charts read.
func served(content *unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	out := content.DeepCopy()
	if out.GetNamespace() == "" {
		out.SetNamespace(namespace)
	}
	plain, found, err := unstructured.NestedStringMap(out.Object, "stringData")
	if out.GetAPIVersion() != "v1" || out.GetKind() != "Secret" || !found || err != nil {
		return out
	}
	unstructured.RemoveNestedField(out.Object, "stringData")
	for key, value := range plain {
		encoded := base64.StdEncoding.EncodeToString([]byte(value))
		if err := unstructured.SetNestedField(out.Object, encoded, "data", key); err != nil {
			return content // data is no map: the API server refuses the Secret
		}
	}
	return out
}

// GetClientFor implements the ClientProvider of Helm's engine.
func (l *lookups) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return &lookup{lookups: l, kind: schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()}, true, nil
}

func (l *lookups) sorted() []Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Keys(l.missed), compareRefs)
}

type lookup struct {
	dynamic.NamespaceableResourceInterface
	*lookups
	kind schema.GroupKind
	of   string // namespace of the object
}

func (l *lookup) Namespace(namespace string) dynamic.ResourceInterface {
	if namespace == l.namespace {
		namespace = "" // as in a Ref
	}
	return &lookup{lookups: l.lookups, kind: l.kind, of: namespace}
}

func (l *lookup) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	if object, ok := l.objects[l.ref(name)]; ok {
		return object.DeepCopy(), nil
	}
	return nil, l.miss(name)
}

func (l *lookup) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return nil, l.miss("")
}

func (l *lookup) ref(name string) Ref {
	return Ref{Group: l.kind.Group, Kind: l.kind.Kind, Namespace: l.of, Name: name}
}

func (l *lookup) miss(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed[l.ref(name)] = true
	return apierrors.NewNotFound(schema.GroupResource{Group: l.kind.Group, Resource: l.kind.Kind}, name)
}
