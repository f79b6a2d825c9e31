//go:build apiserver

package crd

import (
	"os"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	versionutil "k8s.io/apimachinery/pkg/util/version"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
	"github.com/refit-dev/refit/test/apiserver"
)

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m)) }

// verdicts counts what was compared.
type verdicts struct{ definitions, refusedDefinitions, objects, refusedObjects, droppedFields atomic.Int64 }

// full reports whether everything is tested, which takes minutes and downloads charts.
func full() bool { return os.Getenv("REFIT_COMPONENTS_FULL") != "" }

// TestVerdictsEqualThoseOfTheServer compares every case of the corpus on each version, or some of
// them on the newest.
func TestVerdictsEqualThoseOfTheServer(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		if !full() && version != slices.Max(apiserver.Versions(t)) {
			t.Skip("only on the newest version: run make e2e-components-full")
		}
		w := newWorld(t, apiserver.Shared(t, apiserver.Options{Version: version}))
		var count verdicts
		t.Run("corpus", func(t *testing.T) {
			for _, folder := range []string{"defects", "harmless"} {
				for i, c := range corpus(t, folder) {
					if !full() && i%12 != 0 {
						continue
					}
					t.Run(folder+"/"+c.Name, func(t *testing.T) {
						t.Parallel()
						if c.Server.Skip != "" {
							t.Skip(c.Server.Skip)
						}
						if since := c.Server.Since; since != "" && versionutil.MustParseGeneric(version).LessThan(versionutil.MustParseGeneric(since)) {
							t.Skipf("servers refuse the objects since %s", since)
						}
						compare(t, w, c, &count)
					})
				}
			}
		})
		t.Logf("%d changes of CRDs (%d refused) and %d creates (%d refused, %d fields dropped) have the same verdict",
			count.definitions.Load(), count.refusedDefinitions.Load(), count.objects.Load(), count.refusedObjects.Load(), count.droppedFields.Load())
		if full() && count.objects.Load() < 100 {
			t.Errorf("only %d creates were compared", count.objects.Load())
		}
	})
}

func corpus(t *testing.T, folder string) []crdtest.Case {
	t.Helper()
	cases, err := crdtest.Load(os.DirFS("../../../internal/engine/crd/testdata"), folder)
	must(t, err)
	return cases
}

// compare applies the change of a case and compares what the server does with what the judgement
// returns.
func compare(t *testing.T, w *world, c crdtest.Case, count *verdicts) {
	t.Helper()
	ownGroup(c)
	old := w.define(t, c.Old)
	var live []*unstructured.Unstructured
	for _, object := range c.Objects {
		live = append(live, w.create(t, old, object))
	}
	want := refusesChange(t, crd.Change{Old: old, New: c.New})
	applied, err := w.apply(t, c.New)
	count.definitions.Add(1)
	if refused := apierrors.IsInvalid(err); refused != want {
		t.Fatalf("the server refuses the CRD: %v (%v); the judgement: %v", refused, err, want)
	}
	if want {
		count.refusedDefinitions.Add(1)
		return
	}
	must(t, err)
	for _, version := range written(applied) {
		schema, err := crd.Compile(applied, version)
		must(t, err)
		for _, object := range live {
			compareCreate(t, w, c, applied, version, schema, object, count)
		}
	}
}

func refusesChange(t *testing.T, change crd.Change) bool {
	t.Helper()
	for _, f := range crd.Compare(t.Context(), change) {
		if f.Reason == crd.ChangeRefused {
			return true
		}
	}
	return false
}

// written returns the versions in which objects can be created without a conversion webhook.
func written(definition *crd.Definition) []string {
	var versions []string
	webhook := definition.Spec.Conversion != nil && definition.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
	for _, v := range definition.Spec.Versions {
		if v.Storage || v.Served && !webhook {
			versions = append(versions, v.Name)
		}
	}
	return versions
}

func compareCreate(
	t *testing.T, w *world, c crdtest.Case, definition *crd.Definition, version string, schema *crd.Schema, object *unstructured.Unstructured, count *verdicts,
) {
	t.Helper()
	verdict := schema.Check(t.Context(), object)
	created, err := w.createAgain(t, definition, version, object)
	count.objects.Add(1)
	wantRefused := len(verdict.Refusals) > 0 || c.Server.RefusesCreate
	switch {
	case err != nil && !refusal(err):
		t.Fatal(err)
	case wantRefused != (err != nil):
		t.Errorf("%s in %s: the server: %v; the judgement: %+v", object.GetName(), version, err, verdict.Refusals)
	case err != nil:
		count.refusedObjects.Add(1)
		return
	}
	count.droppedFields.Add(int64(len(verdict.Dropped)))
	if version != crd.StorageVersion(definition) {
		return // the storage version pruned it, too
	}
	if got, want := content(created), content(verdict.Object); !reflect.DeepEqual(got, want) {
		t.Errorf("%s in %s: the server stores %v, the judgement %v", object.GetName(), version, got, want)
	}
}

// content returns what a create keeps, apart from metadata.
func content(object *unstructured.Unstructured) map[string]any {
	kept := object.DeepCopy().Object
	delete(kept, "metadata")
	delete(kept, "status")
	return kept
}
