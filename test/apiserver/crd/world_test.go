//go:build apiserver

package crd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	checkTimeout = 90 * time.Second // the machine may be busy
	pollInterval = 50 * time.Millisecond
	// again is the namespace in which each object is created a second time.
	again = "again"
	// marker is a field of the new CRD: a create that the server refuses because of it proves that
	// the server uses the new schema.
	marker = "refitMarker"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is an API server with a second namespace.
type world struct{ client dynamic.Interface }

func newWorld(t *testing.T, server *apiserver.Server) *world {
	t.Helper()
	config := server.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": again}}}
	_, err = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), namespace, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	return &world{client: client}
}

// ownGroup gives a case a group of its own, so that all cases run on one server.
func ownGroup(c crdtest.Case) {
	group := c.Name + ".example.com"
	for _, d := range []*crd.Definition{c.Old, c.New} {
		d.Spec.Group, d.Name, d.ResourceVersion = group, d.Spec.Names.Plural+"."+group, ""
	}
	for _, object := range c.Objects {
		object.SetAPIVersion(group + "/" + object.GroupVersionKind().Version)
	}
}

// define creates a CRD and returns it as soon as it is established, with the stored versions of the
// case.
func (w *world) define(t *testing.T, definition *crd.Definition) *crd.Definition {
	t.Helper()
	_, err := w.client.Resource(definitions).Create(t.Context(), encode(t, definition), metav1.CreateOptions{})
	must(t, err)
	var live *crd.Definition
	poll(t, func(ctx context.Context) error {
		live = w.definition(ctx, t, definition.Name)
		for _, condition := range live.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return nil
			}
		}
		return errors.New("the CRD is not established")
	})
	if len(definition.Status.StoredVersions) < 2 {
		return live
	}
	must(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live = w.definition(t.Context(), t, definition.Name)
		live.Status.StoredVersions = definition.Status.StoredVersions
		_, err := w.client.Resource(definitions).UpdateStatus(t.Context(), encode(t, live), metav1.UpdateOptions{})
		return err
	}))
	return w.definition(t.Context(), t, definition.Name)
}

// apply replaces a CRD, with the marker added, and waits until the server uses it.
func (w *world) apply(t *testing.T, definition *crd.Definition) (*crd.Definition, error) {
	t.Helper()
	applied := definition.DeepCopy()
	for i := range applied.Spec.Versions {
		properties := applied.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties
		properties[marker] = apiextensionsv1.JSONSchemaProps{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"new"`)}}}
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live := w.definition(t.Context(), t, definition.Name)
		live.Spec = applied.Spec
		_, err := w.client.Resource(definitions).Update(t.Context(), encode(t, live), metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, version := range written(applied) {
		poll(t, func(ctx context.Context) error { return w.usesMarker(ctx, applied, version) })
	}
	return applied, nil
}

func (w *world) usesMarker(ctx context.Context, definition *crd.Definition, version string) error {
	probe := &unstructured.Unstructured{Object: map[string]any{marker: "old"}}
	probe.SetAPIVersion(definition.Spec.Group + "/" + version)
	probe.SetKind(definition.Spec.Names.Kind)
	probe.SetName("probe")
	_, err := w.resource(definition, version, again).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil && strings.Contains(err.Error(), marker) {
		return nil
	}
	return fmt.Errorf("the server does not use the new CRD yet: %w", err)
}

// create creates an object and returns it with its status.
func (w *world) create(t *testing.T, definition *crd.Definition, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	resource := w.resource(definition, object.GroupVersionKind().Version, object.GetNamespace())
	var created *unstructured.Unstructured
	poll(t, func(ctx context.Context) (err error) {
		created, err = resource.Create(ctx, object, metav1.CreateOptions{})
		if refusal(err) {
			t.Fatalf("the old CRD refuses %s: %v", object.GetName(), err)
		}
		return err
	})
	status, found := object.Object["status"]
	if _, kept := created.Object["status"]; !found || kept {
		return created
	}
	created.Object["status"] = status
	created, err := resource.UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
	must(t, err)
	return created
}

// createAgain creates an object that exists once more, elsewhere and as a dry run.
func (w *world) createAgain(
	t *testing.T, definition *crd.Definition, version string, object *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	t.Helper()
	fresh := object.DeepCopy()
	fresh.Object["metadata"] = map[string]any{"name": object.GetName()}
	fresh.SetAPIVersion(definition.Spec.Group + "/" + version)
	if object.GetNamespace() == "" {
		fresh.SetName(object.GetName() + "-" + again)
	}
	return w.resource(definition, version, again).Create(t.Context(), fresh, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

func (w *world) resource(definition *crd.Definition, version, namespace string) dynamic.ResourceInterface {
	of := w.client.Resource(schema.GroupVersionResource{Group: definition.Spec.Group, Version: version, Resource: definition.Spec.Names.Plural})
	if definition.Spec.Scope == apiextensionsv1.NamespaceScoped {
		return of.Namespace(namespace)
	}
	return of
}

func (w *world) definition(ctx context.Context, t *testing.T, name string) *crd.Definition {
	t.Helper()
	object, err := w.client.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
	must(t, err)
	live := &crd.Definition{}
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, live))
	return live
}

func encode(t *testing.T, definition *crd.Definition) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(definition)
	must(t, err)
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(definitions.GroupVersion().WithKind("CustomResourceDefinition"))
	return object
}

// refusal reports whether an error is about the content of an object. A server that does not serve
// a CRD yet returns other errors.
func refusal(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) }

// poll calls a function until it returns nil.
func poll(t *testing.T, try func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), pollInterval, checkTimeout, true, func(ctx context.Context) (bool, error) {
		last = try(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%v: %v", err, last)
	}
}
