package crd

import (
	"context"
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// validate checks an object in the order of the API server: schema, scale, embedded objects, list
// types, rules.
func (s *Schema) validate(ctx context.Context, object *unstructured.Unstructured) []Refusal {
	content := object.Object
	invalid := validation.ValidateCustomResource(nil, content, s.validator)
	invalid = append(invalid, s.invalidReplicas(content)...)
	embedded := objectmeta.Validate(ctx, nil, content, s.structural, false)
	lists := listtype.ValidateListSetsAndMaps(nil, s.structural, content)

	refused := refusals(SchemaTightened, invalid)
	refused = append(refused, refusals(EmbeddedObjectInvalid, embedded)...)
	refused = append(refused, refusals(ListTypeChanged, lists)...)
	if s.rules != nil && !slices.ContainsFunc(slices.Concat(invalid, embedded, lists), hidesRules) {
		refused = append(refused, refusals(CELRuleRefuses, s.refusingRules(ctx, content))...)
	}
	return refused
}

// refusingRules returns the errors of rules. A rule about a transition does not concern an object
// that stays as it is, nor does a rule of optionalOldSelf that accepts the object as its own
// predecessor.
func (s *Schema) refusingRules(ctx context.Context, content map[string]any) field.ErrorList {
	onCreate, _ := s.rules.Validate(ctx, nil, s.structural, content, nil, celconfig.RuntimeCELCostBudget)
	if len(onCreate) == 0 {
		return nil
	}
	onUpdate, _ := s.rules.Validate(ctx, nil, s.structural, content, content, celconfig.RuntimeCELCostBudget)
	return slices.DeleteFunc(onCreate, func(created *field.Error) bool {
		return !slices.ContainsFunc(onUpdate, func(updated *field.Error) bool {
			return updated.Field == created.Field && updated.Detail == created.Detail
		})
	})
}

// hidesRules reports whether the API server does not evaluate rules because of an error: a rule may
// rely on the type of its values, on their limits and on required fields.
func hidesRules(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	default:
		return false
	}
}

// invalidReplicas returns why the scale subresource refuses the replicas of the spec.
func (s *Schema) invalidReplicas(content map[string]any) field.ErrorList {
	if s.scale == nil {
		return nil
	}
	path := strings.TrimPrefix(s.scale.SpecReplicasPath, ".")
	replicas, _, err := unstructured.NestedInt64(content, strings.Split(path, ".")...)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(field.NewPath(path), nil, "the scale subresource needs an integer")}
	case replicas < 0 || replicas > math.MaxInt32:
		return field.ErrorList{field.Invalid(field.NewPath(path), nil, "the scale subresource needs an integer from 0 to 2147483647")}
	default:
		return nil
	}
}
