package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
)

type api struct {
	Group       string `json:"group"`
	Version     string `json:"version"`
	Kind        string `json:"kind"`
	Resource    string `json:"resource,omitempty"`
	Namespaced  bool   `json:"namespaced,omitempty"`
	Served      bool   `json:"served,omitempty"`
	Default     bool   `json:"default,omitempty"`
	Introduced  string `json:"introduced,omitempty"`
	Deprecated  string `json:"deprecated,omitempty"`
	Removed     string `json:"removed,omitempty"`
	Replacement string `json:"replacement,omitempty"`
}

// apis lists the APIs that can be served, and the types of removed APIs with the release that
// removed them.
func apis(source string) ([]api, error) {
	known, err := discovered(source)
	if err != nil {
		return nil, err
	}
	remembered, err := types()
	if err != nil {
		return nil, err
	}
	for kind, object := range remembered {
		entry, served := known[kind]
		if !served {
			entry = api{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
		}
		entry.addLifecycle(object)
		if served || entry.Deprecated != "" || entry.Removed != "" {
			known[kind] = entry
		}
	}
	var list []api
	for _, entry := range known {
		list = append(list, entry)
	}
	slices.SortFunc(list, func(a, b api) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Version, b.Version))
	})
	return list, nil
}

// types are the objects of all published API packages: k8s.io/api, and the two servers that are
// built into kube-apiserver.
func types() (map[schema.GroupVersionKind]reflect.Type, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1beta1.AddToScheme, apiregistrationv1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("collecting the API types: %w", err)
		}
	}
	objects := map[schema.GroupVersionKind]reflect.Type{}
	for kind, object := range scheme.AllKnownTypes() {
		// Options and lists are not objects.
		if _, has := object.FieldByName("ObjectMeta"); has && kind.Version != runtime.APIVersionInternal {
			objects[kind] = object
		}
	}
	return objects, nil
}

// addLifecycle adds the lifecycle markers of a type.
func (a *api) addLifecycle(object reflect.Type) {
	value := reflect.New(object).Interface()
	if marked, ok := value.(interface {
		APILifecycleIntroduced() (major, minor int)
	}); ok {
		a.Introduced = release(marked.APILifecycleIntroduced())
	}
	if marked, ok := value.(interface {
		APILifecycleDeprecated() (major, minor int)
	}); ok {
		a.Deprecated = release(marked.APILifecycleDeprecated())
	}
	if marked, ok := value.(interface {
		APILifecycleRemoved() (major, minor int)
	}); ok {
		a.Removed = release(marked.APILifecycleRemoved())
	}
	if marked, ok := value.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		kind := marked.APILifecycleReplacement()
		if kind.Kind == a.Kind+"List" {
			kind.Kind = a.Kind // upstream mistake: IngressClass is not replaced by its list
		}
		a.Replacement = kind.GroupVersion().String() + " " + kind.Kind
	}
}

func release(major, minor int) string { return fmt.Sprintf("%d.%d", major, minor) }
