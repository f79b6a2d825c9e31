package helm

import (
	"context"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// lookups finds nothing, and records what a chart looks up. Helm alone would find a live object,
// such as the Secret with a password that the chart must not create again.
type lookups struct {
	mu    sync.Mutex
	found map[string]bool
}

// GetClientFor implements the ClientProvider of Helm's engine.
func (l *lookups) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return &lookup{lookups: l, kind: schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()}, true, nil
}

// sorted returns kinds with namespaces and names; a list has no name.
func (l *lookups) sorted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var texts []string
	for text := range l.found {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}

type lookup struct {
	dynamic.NamespaceableResourceInterface
	*lookups
	kind      schema.GroupKind
	namespace string
}

func (l *lookup) Namespace(namespace string) dynamic.ResourceInterface {
	return &lookup{lookups: l.lookups, kind: l.kind, namespace: namespace}
}

func (l *lookup) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	return nil, l.record(name)
}

func (l *lookup) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return nil, l.record("")
}

func (l *lookup) record(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil {
		l.found = map[string]bool{}
	}
	l.found[strings.TrimSuffix(Ref{Group: l.kind.Group, Kind: l.kind.Kind, Namespace: l.namespace, Name: name}.String(), "/")] = true
	return apierrors.NewNotFound(schema.GroupResource{Group: l.kind.Group, Resource: l.kind.Kind}, name)
}
