package crd

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// differing returns a schema that refuses an object only because of what differs from the same
// version of the old definition, or nil. A refusal that both share is no finding, and most of the
// time of a check is spent on fields that do not differ.
//
// Only the validation of values is reduced. An object that it refuses is checked completely: errors
// in other fields can hide rules.
func differing(change Change, version string, complete *Schema) *Schema {
	before, after := versionOf(change.Old, version), versionOf(change.New, version)
	if complete.validator == nil || before == nil || before.Schema == nil || before.Schema.OpenAPIV3Schema == nil {
		return nil
	}
	x, err := internalSchema(before.Schema)
	if err != nil {
		return nil
	}
	y, err := internalSchema(after.Schema)
	if err != nil {
		return nil
	}
	reduced := *complete
	if reduced.validator, _, err = validation.NewSchemaValidator(without(y, x)); err != nil {
		return nil
	}
	return &reduced
}

// without returns a schema that accepts any value for the fields that another schema has as well.
func without(schema, other *apiextensions.JSONSchemaProps) *apiextensions.JSONSchemaProps {
	if other == nil {
		return schema
	}
	if apiequality.Semantic.DeepEqual(schema, other) {
		return &apiextensions.JSONSchemaProps{}
	}
	reduced := *schema
	reduced.Properties = make(map[string]apiextensions.JSONSchemaProps, len(schema.Properties))
	for name, property := range schema.Properties {
		if same, found := other.Properties[name]; found {
			property = *without(&property, &same)
		}
		reduced.Properties[name] = property
	}
	if items := schema.Items; items != nil && items.Schema != nil && other.Items != nil {
		reduced.Items = &apiextensions.JSONSchemaPropsOrArray{Schema: without(items.Schema, other.Items.Schema)}
	}
	if values := schema.AdditionalProperties; values != nil && values.Schema != nil && other.AdditionalProperties != nil {
		reduced.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{
			Allows: values.Allows, Schema: without(values.Schema, other.AdditionalProperties.Schema),
		}
	}
	return &reduced
}
