package crd

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Refusal is one cause for which the API server refuses an object.
type Refusal struct {
	Defect Defect
	// Field is the path of the field; empty for the whole object.
	Field string
	// Detail is the cause, without the value of the field.
	Detail string
}

// Verdict is what the API server does with an object that is created.
type Verdict struct {
	Refusals []Refusal
	// Dropped are the paths of the fields that the schema lacks, including those of status.
	Dropped []string
	// Object is the result: pruned and with defaults.
	Object *unstructured.Unstructured
}

// Check returns what the API server does with an object that is created in this version. It does
// not change the object. Refusals inside of status are left out if the version has a status
// subresource, because a create ignores status and a controller writes it again.
func (s *Schema) Check(ctx context.Context, object *unstructured.Unstructured) Verdict {
	result := object.DeepCopy()
	result.SetAPIVersion(s.apiVersion)
	v := Verdict{Object: result}
	if s.validator == nil {
		return v
	}
	dropped, refused := s.prune(result)
	v.Dropped = dropped
	s.setDefaults(result)
	for _, r := range append(refused, s.validate(ctx, result)...) {
		if !s.hasStatus || !inStatus(r.Field) {
			v.Refusals = append(v.Refusals, r)
		}
	}
	return v
}

// inStatus reports whether a field is the status of the object or a part of it.
func inStatus(path string) bool {
	rest, found := strings.CutPrefix(path, "status")
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
