package crd

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
)

// BenchmarkJudge judges objects with lists, defaults and rules: those of the first size have about
// 40 fields, as most custom resources, those of the second 400. It also measures CPU time, which
// does not depend on other processes.
func BenchmarkJudge(b *testing.B) {
	for _, lists := range []int{1, 10} {
		b.Run(fmt.Sprintf("fields=%d", 40*lists), func(b *testing.B) {
			const objects = 10_000
			change, object := benchmarkChange(lists)
			before := cpuTime()
			for b.Loop() {
				report, err := Judge(b.Context(), change, nil, copiesOf(object, objects))
				if err != nil || report.Objects != objects || report.Total != 0 {
					b.Fatalf("%v %+v", err, report)
				}
			}
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/1000/float64(b.N)/objects, "cpu-ms/object")
		})
	}
}

// benchmarkChange adds a rule to a CRD with a number of lists of ten entries.
func benchmarkChange(lists int) (Change, *unstructured.Unstructured) {
	entry := schemaProps{
		Type: "object", Required: []string{"key"},
		Properties: map[string]schemaProps{"key": {Type: "string", Pattern: "^[a-z0-9]+$"}, "value": {Type: "string"}, "port": {Type: "integer", Format: "int32"}},
	}
	entries := list(entry, "map")
	entries.XListMapKeys = []string{"key"}
	properties, content := map[string]schemaProps{}, map[string]any{}
	for i := range lists {
		var values []any
		for j := range 10 {
			values = append(values, map[string]any{"key": fmt.Sprintf("k%d", j), "value": "x", "port": int64(80)})
		}
		name := fmt.Sprintf("list%d", i)
		properties[name], content[name] = entries, values
	}
	old := crdtest.New(schemaProps{Type: "object", Properties: properties})
	after := old.DeepCopy()
	spec := after.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.list0.size() <= 10"}}
	after.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec

	object := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
	object.SetAPIVersion(old.Spec.Group + "/v1")
	object.SetKind(old.Spec.Names.Kind)
	object.SetName("a")
	return Change{Old: old, New: after}, object
}

func copiesOf(object *unstructured.Unstructured, count int) Objects {
	return func(yield func(*unstructured.Unstructured, error) bool) {
		for range count {
			if !yield(object, nil) {
				return
			}
		}
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
