//go:build apiserver

package helm

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/engine/helm"
)

// An observer reads all objects of the kinds that a release has: Helm can create no others.
type observer struct {
	dynamic  dynamic.Interface
	mappings []*meta.RESTMapping
}

func newObserver(t *testing.T, config *rest.Config, renderings ...helm.Rendering) *observer {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(config)
	must(t, err)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	o := &observer{}
	o.dynamic, err = dynamic.NewForConfig(config)
	must(t, err)
	kinds := map[schema.GroupKind]bool{}
	for _, rendering := range renderings {
		for _, object := range slices.Concat(rendering.Objects, rendering.Hooks) {
			kind := schema.GroupKind{Group: object.Group, Kind: object.Kind}
			if kinds[kind] {
				continue
			}
			kinds[kind] = true
			mapping, err := mapper.RESTMapping(kind)
			must(t, err)
			o.mappings = append(o.mappings, mapping)
		}
	}
	return o
}

// state returns all objects of a namespace, and all others that are marked as its release's,
// without what the server adds. Helm's records are not part of it.
func (o *observer) state(t *testing.T, namespace string) string {
	t.Helper()
	var documents []string
	for _, mapping := range o.mappings {
		list, err := o.dynamic.Resource(mapping.Resource).List(t.Context(), metav1.ListOptions{})
		must(t, err)
		for _, item := range list.Items {
			record := strings.HasPrefix(item.GetName(), "sh.helm.release.v1.")
			if !record && (item.GetNamespace() == namespace || item.GetAnnotations()["meta.helm.sh/release-namespace"] == namespace) {
				documents = append(documents, stable(t, item))
			}
		}
	}
	slices.Sort(documents)
	return strings.Join(documents, "---\n")
}

// stable returns an object without the fields that differ between equal objects.
func stable(t *testing.T, item unstructured.Unstructured) string {
	t.Helper()
	metadata, _ := item.Object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		delete(metadata, field)
	}
	for _, field := range []string{"clusterIP", "clusterIPs"} {
		if spec, ok := item.Object["spec"].(map[string]any); ok {
			delete(spec, field)
		}
	}
	delete(item.Object, "status")
	text, err := yaml.Marshal(item.Object)
	must(t, err)
	return string(text)
}
