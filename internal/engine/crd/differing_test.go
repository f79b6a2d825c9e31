package crd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
)

// judgeCompletely judges objects with the whole schemas.
func judgeCompletely(ctx context.Context, change Change, objects ...*unstructured.Unstructured) *Report {
	report := &Report{}
	report.add(Compare(ctx, change)...)
	j := newJudge(change, report)
	for i := range j.versions {
		j.versions[i].differing = nil
	}
	j.objects(ctx, objects)
	return report
}

// sameFindings compares findings; the validator returns the errors of fields in any order.
func sameFindings(a, b *Report) bool {
	order := func(x, y Finding) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) }
	return slices.Equal(slices.SortedFunc(slices.Values(a.Findings), order), slices.SortedFunc(slices.Values(b.Findings), order))
}

func TestTheDifferenceDecidesAsTheWholeSchema(t *testing.T) {
	for _, c := range slices.Concat(corpus(t, "defects"), corpus(t, "harmless")) {
		change := Change{Old: c.Old, New: c.New}
		if got, want := judgeCase(t, c), judgeCompletely(t.Context(), change, c.Objects...); !sameFindings(got, want) {
			t.Errorf("%s: got %+v, want %+v", c.Name, got.Findings, want.Findings)
		}
	}
	decided := 0
	rapid.Check(t, func(t *rapid.T) {
		before, value := anyObject(t, 3)
		other, otherValue := anyObject(t, 3)
		after := before
		after.Properties = maps.Clone(before.Properties)
		for _, name := range slices.Sorted(maps.Keys(other.Properties)) {
			if rapid.Bool().Draw(t, "replace "+name) {
				after.Properties[name] = other.Properties[name]
			}
			if field, found := otherValue[name]; found && rapid.Bool().Draw(t, "set "+name) {
				value[name] = field // which may not conform to either
			}
		}
		old, to := crdtest.New(before), crdtest.New(after)
		object := &unstructured.Unstructured{Object: map[string]any{"spec": value}}
		object.SetAPIVersion(old.Spec.Group + "/v1")
		object.SetKind(old.Spec.Names.Kind)
		object.SetName("a")
		change := Change{Old: old, New: to}
		got, err := Judge(t.Context(), change, nil, each([]*unstructured.Unstructured{object}))
		if err != nil {
			t.Fatal(err)
		}
		want := judgeCompletely(t.Context(), change, object)
		if !sameFindings(got, want) {
			t.Fatalf("got %+v, want %+v", got.Findings, want.Findings)
		}
		if want.Refused > 0 {
			decided++
		}
	})
	if decided == 0 {
		t.Error("no object was refused")
	}
}

func TestFindingsOfManyObjectsAreInOrder(t *testing.T) {
	old := crdtest.New(schemaProps{Type: "object", Properties: map[string]schemaProps{"a": {Type: "string"}}})
	to := crdtest.New(schemaProps{Type: "object"})
	var objects []*unstructured.Unstructured
	for i := range 3*batchSize + 1 {
		object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		object.SetAPIVersion(old.Spec.Group + "/v1")
		object.SetKind(old.Spec.Names.Kind)
		object.SetName(string(rune('a' + i%26)))
		if i == batchSize-1 || i == batchSize || i == 3*batchSize {
			object.Object["spec"] = map[string]any{"a": "1"}
		}
		objects = append(objects, object)
	}
	report, err := Judge(t.Context(), Change{Old: old, New: to}, nil, each(objects))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range report.Findings {
		names = append(names, f.Object)
	}
	want := []string{objects[batchSize-1].GetName(), objects[batchSize].GetName(), objects[3*batchSize].GetName()}
	if report.Objects != len(objects) || report.Dropping != 3 || !slices.Equal(names, want) {
		t.Errorf("%d objects, findings of %v, want %v", report.Objects, names, want)
	}
}
