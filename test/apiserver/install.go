package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

const (
	kindCRD       = "CustomResourceDefinition"
	kindNamespace = "Namespace"
	kindPolicy    = "ValidatingAdmissionPolicy"
	kindBinding   = "ValidatingAdmissionPolicyBinding"
)

// Install applies every object in the YAML files of a folder, and returns when they are in effect:
// custom resources are served, and admission policies are enforced. It updates objects that exist
// already.
func (s *Server) Install(tb testing.TB, dir string) {
	tb.Helper()
	if err := s.install(tb.Context(), dir); err != nil {
		tb.Fatalf("installing %s: %v", dir, err)
	}
}

func (s *Server) install(ctx context.Context, dir string) error {
	objects, err := readManifests(dir)
	if err != nil {
		return err
	}
	in, err := s.newInstaller()
	if err != nil {
		return err
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
	first := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return rank(o) > 0 })
	if first < 0 {
		first = len(objects)
	}
	definitions, others := objects[:first], objects[first:]
	for _, object := range definitions {
		if err := in.apply(ctx, object); err != nil {
			return err
		}
	}
	for _, object := range definitions {
		if err := in.waitServed(ctx, object); err != nil {
			return err
		}
	}
	policies := false
	for _, object := range others {
		if err := in.apply(ctx, object); err != nil {
			return err
		}
		policies = policies || object.GetKind() == kindPolicy || object.GetKind() == kindBinding
	}
	if policies {
		return s.waitPolicies(ctx)
	}
	return nil
}

// rank orders objects: dependencies come first.
func rank(object *unstructured.Unstructured) int {
	switch object.GetKind() {
	case kindCRD:
		return 0
	case kindNamespace:
		return 1
	default:
		return 2
	}
}

// An installer applies objects of any kind that the server serves.
type installer struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func (s *Server) newInstaller() (installer, error) {
	client, err := dynamic.NewForConfig(s.harness)
	if err != nil {
		return installer{}, err
	}
	finder, err := discovery.NewDiscoveryClientForConfig(s.harness)
	if err != nil {
		return installer{}, err
	}
	return installer{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(finder))}, nil
}

// resource returns the client for an object's resource. A namespaced object without a namespace
// belongs to default.
func (in installer) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := in.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("finding the resource of %s: %w", kind, err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return in.client.Resource(mapping.Resource), nil
	}
	return in.client.Resource(mapping.Resource).Namespace(cmp.Or(object.GetNamespace(), metav1.NamespaceDefault)), nil
}

func (in installer) apply(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := in.resource(object)
	if err != nil {
		return err
	}
	_, err = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: harnessUser, Force: true})
	if err != nil {
		return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// waitServed waits until the resources of a definition are served.
func (in installer) waitServed(ctx context.Context, definition *unstructured.Unstructured) error {
	name := definition.GetName()
	resource, err := in.resource(definition)
	if err != nil {
		return err
	}
	err = poll(ctx, settleDeadline, name+" to be established", func() error {
		found, err := resource.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return established(found)
	})
	if err != nil {
		return err
	}
	// The aggregator and discovery serve a new group with a delay.
	return poll(ctx, settleDeadline, name+" to be discovered", func() error {
		in.mapper.Reset()
		for _, kind := range servedKinds(definition) {
			if _, err := in.mapper.RESTMapping(kind.GroupKind(), kind.Version); err != nil {
				return err
			}
		}
		return nil
	})
}

// established returns an error if the server has not accepted a definition.
func established(definition *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok && fields["type"] == "Established" && fields["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("its conditions are %v", conditions)
}

// servedKinds returns the kinds that a definition adds, one for each served version.
func servedKinds(definition *unstructured.Unstructured) []schema.GroupVersionKind {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	list, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var kinds []schema.GroupVersionKind
	for _, version := range list {
		if fields, ok := version.(map[string]any); ok && fields["served"] == true {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: fmt.Sprint(fields["name"]), Kind: kind})
		}
	}
	return kinds
}
