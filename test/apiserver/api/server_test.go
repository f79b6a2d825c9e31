//go:build apiserver

package api

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/test/apiserver"
)

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m)) }

// installed are the servers that have the CRDs, roles and policies.
var installed sync.Map

// serverOf returns the shared server of a version, with everything in config/ in effect.
func serverOf(t *testing.T, version string) *apiserver.Server {
	t.Helper()
	s := apiserver.Shared(t, apiserver.Options{Version: version})
	if _, done := installed.LoadOrStore(version, true); !done {
		for _, folder := range []string{"crd", "rbac", "policy"} {
			s.Install(t, filepath.Join(config, folder))
		}
	}
	return s
}

// objects returns a user's client for the objects of a kind.
func objects(t *testing.T, user *rest.Config, kind string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(user)
	must(t, err)
	return client.Resource(schema.GroupVersionResource{Group: "refit.dev", Version: "v1alpha1", Resource: strings.ToLower(kind) + "s"})
}

// made creates an object with its status, and deletes it with the test.
func made(t *testing.T, s *apiserver.Server, object map[string]any) *unstructured.Unstructured {
	t.Helper()
	wanted := &unstructured.Unstructured{Object: object}
	client := objects(t, s.RESTConfig(), wanted.GetKind())
	found, err := client.Create(t.Context(), wanted.DeepCopy(), metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { deleteNow(t, s, wanted) })
	if status, ok := object["status"]; ok {
		found.Object["status"] = status
		found, err = client.UpdateStatus(t.Context(), found, metav1.UpdateOptions{})
		must(t, err)
	}
	return found
}

// deleteNow deletes an object, if it still exists.
func deleteNow(t *testing.T, s *apiserver.Server, object *unstructured.Unstructured) {
	t.Helper()
	//nolint:usetesting // the test's own context may be over
	err := objects(t, s.RESTConfig(), object.GetKind()).Delete(context.Background(), object.GetName(), metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		must(t, err)
	}
}

// with returns a copy of an object with another value at a path; nil removes the field. A path is
// names separated by dots.
func with(t *testing.T, object map[string]any, path string, value any) map[string]any {
	t.Helper()
	changed := (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	fields := strings.Split(path, ".")
	if value == nil {
		unstructured.RemoveNestedField(changed, fields...)
		return changed
	}
	must(t, unstructured.SetNestedField(changed, (&unstructured.Unstructured{Object: map[string]any{"v": value}}).DeepCopy().Object["v"], fields...))
	return changed
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
