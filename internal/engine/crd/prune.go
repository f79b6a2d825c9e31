package crd

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// prune drops the fields that the schema lacks, and nulls that it does not permit, and returns the
// paths of the fields. The API server drops such a null without a report, so it is no loss either.
// The metadata of the object is not pruned; that of embedded objects is.
func (s *Schema) prune(object *unstructured.Unstructured) (dropped []string, refused []Refusal) {
	if s.structural == nil {
		return nil, nil
	}
	if !s.preserve {
		dropped = pruning.PruneWithOptions(object.Object, s.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, s.structural)
	}
	err, embedded := objectmeta.CoerceWithOptions(nil, object.Object, s.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		refused = append(refused, refusal(EmbeddedObjectInvalid, err))
	}
	return append(dropped, embedded...), refused
}

// withoutStatus separates the dropped fields of status, which controllers write again, from the
// others.
func withoutStatus(dropped []string) (others, status []string) {
	for _, path := range dropped {
		if inStatus(path) {
			status = append(status, path)
		} else {
			others = append(others, path)
		}
	}
	slices.Sort(others)
	return others, status
}
