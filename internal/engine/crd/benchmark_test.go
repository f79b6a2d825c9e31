package crd

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
)

// BenchmarkJudge judges 10,000 objects of a nested schema with lists, maps, defaults and rules.
func BenchmarkJudge(b *testing.B) {
	const objects = 10_000
	entry := schemaProps{
		Type: "object", Required: []string{"key"},
		Properties: map[string]schemaProps{"key": {Type: "string", Pattern: "^[a-z0-9]+$"}, "value": {Type: "string"}, "port": {Type: "integer", Format: "int32"}},
	}
	entries := list(entry, "map")
	entries.XListMapKeys = []string{"key"}
	properties, content := map[string]schemaProps{}, map[string]any{}
	for i := range 10 {
		name := fmt.Sprintf("list%d", i)
		properties[name] = entries
		var values []any
		for j := range 10 {
			values = append(values, map[string]any{"key": fmt.Sprintf("k%d", j), "value": "x", "port": int64(80)})
		}
		content[name] = values
	}
	old := crdtest.New(schemaProps{Type: "object", Properties: properties})
	after := old.DeepCopy()
	spec := after.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.list0.size() <= 10"}}
	after.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	live := func(yield func(*unstructured.Unstructured, error) bool) {
		for i := range objects {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
			object.SetAPIVersion(old.Spec.Group + "/v1")
			object.SetKind(old.Spec.Names.Kind)
			object.SetName(fmt.Sprintf("o%d", i))
			if !yield(object, nil) {
				return
			}
		}
	}
	for b.Loop() {
		report, err := Judge(b.Context(), Change{Old: old, New: after}, nil, live)
		if err != nil || report.Objects != objects || report.Total != 0 {
			b.Fatalf("%v %+v", err, report)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/objects, "ms/object")
}
