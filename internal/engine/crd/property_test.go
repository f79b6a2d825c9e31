package crd

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
)

// TestConformingObjectsHaveNoFindings makes random schemas together with objects that conform to
// them. The schema accepts them and drops nothing, and a change that loosens it has no finding.
func TestConformingObjectsHaveNoFindings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, value := anyObject(t, 3)
		c := crdtest.New(spec)
		object := &unstructured.Unstructured{Object: map[string]any{"spec": value}}
		object.SetAPIVersion(c.Spec.Group + "/v1")
		object.SetKind(c.Spec.Names.Kind)
		object.SetName("a")

		schema, err := Compile(c, "v1")
		if err != nil {
			t.Fatal(err)
		}
		if v := schema.Check(t.Context(), object); len(v.Refusals) > 0 || len(v.Dropped) > 0 {
			t.Fatalf("the object is refused %+v and loses %v", v.Refusals, v.Dropped)
		}
		loosened := c.DeepCopy()
		loosen(loosened.Spec.Versions[0].Schema.OpenAPIV3Schema)
		for name, after := range map[string]*Definition{"unchanged": c.DeepCopy(), "loosened": loosened} {
			report, err := Judge(t.Context(), Change{Old: c, New: after}, nil, each([]*unstructured.Unstructured{object}))
			if err != nil || report.Total > 0 {
				t.Fatalf("the %s CRD has findings: %v %+v", name, err, report.Findings)
			}
		}
	})
}

// loosen removes all validation of a schema, but no field.
func loosen(s *apiextensionsv1.JSONSchemaProps) {
	s.Required, s.Enum, s.XValidations, s.XListType, s.XListMapKeys = nil, nil, nil, nil, nil
	s.Minimum, s.Maximum, s.MinLength, s.MaxLength, s.MaxItems, s.Pattern, s.Format = nil, nil, nil, nil, nil, "", ""
	for name, property := range s.Properties {
		loosen(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		loosen(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		loosen(s.AdditionalProperties.Schema)
	}
}

type schemaProps = apiextensionsv1.JSONSchemaProps

// anyValue returns a random schema and a value that conforms to it.
func anyValue(t *rapid.T, depth int) (schemaProps, any) {
	kinds := []func(*rapid.T, int) (schemaProps, any){anyText, anyInteger, anyBoolean, anyIntOrString, anyFree, anyNull}
	if depth > 0 {
		kinds = append(kinds, anyObjectValue, anyMap, anyAtomicList, anySet, anyListMap)
	}
	return rapid.SampledFrom(kinds).Draw(t, "kind")(t, depth)
}

func anyText(t *rapid.T, _ int) (schemaProps, any) {
	value := rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "text")
	length := int64(len(value))
	return rapid.SampledFrom([]schemaProps{
		{Type: "string"},
		{Type: "string", MinLength: &length, MaxLength: &length},
		{Type: "string", Pattern: "^[a-z]+$"},
		{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"OTHER"`)}, {Raw: fmt.Appendf(nil, "%q", value)}}},
		{Type: "string", MaxLength: &length, XValidations: apiextensionsv1.ValidationRules{{Rule: "self.size() > 0"}, {Rule: "self == oldSelf"}}},
	}).Draw(t, "schema of the text"), value
}

func anyInteger(t *rapid.T, _ int) (schemaProps, any) {
	value := rapid.Int64Range(-1000, 1000).Draw(t, "integer")
	limit := float64(value)
	return rapid.SampledFrom([]schemaProps{
		{Type: "integer", Format: "int32"}, {Type: "integer", Minimum: &limit}, {Type: "integer", Maximum: &limit}, {Type: "number"},
	}).Draw(t, "schema of the integer"), value
}

func anyBoolean(t *rapid.T, _ int) (schemaProps, any) {
	return schemaProps{Type: "boolean"}, rapid.Bool().Draw(t, "boolean")
}

func anyIntOrString(t *rapid.T, _ int) (schemaProps, any) {
	return schemaProps{XIntOrString: true}, rapid.SampledFrom([]any{int64(1), "25%"}).Draw(t, "integer or text")
}

func anyFree(*rapid.T, int) (schemaProps, any) {
	preserve := true
	return schemaProps{Type: "object", XPreserveUnknownFields: &preserve}, map[string]any{"any": []any{int64(1), "x", map[string]any{"y": nil}}}
}

func anyNull(*rapid.T, int) (schemaProps, any) {
	return schemaProps{Type: "string", Nullable: true}, nil
}

func anyObjectValue(t *rapid.T, depth int) (schemaProps, any) { return anyObject(t, depth) }

// anyObject returns an object: fields are required, optional, missing or set by a default.
func anyObject(t *rapid.T, depth int) (schemaProps, map[string]any) {
	s, object := schemaProps{Type: "object", Properties: map[string]schemaProps{}}, map[string]any{}
	for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
		name := fmt.Sprintf("f%d", i)
		property, value := anyValue(t, depth-1)
		switch rapid.IntRange(0, 3).Draw(t, "presence") {
		case 0:
			object[name] = value
			s.Required = append(s.Required, name)
		case 1:
			object[name] = value
		case 2: // optional and missing
		default:
			property = schemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"x"`)}}
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = property
	}
	return s, object
}

func anyMap(t *rapid.T, depth int) (schemaProps, any) {
	most := int64(10)
	values, value := anyValue(t, depth-1)
	s := schemaProps{Type: "object", MaxProperties: &most, AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &values}}
	return s, map[string]any{"a.b/c": value}
}

func anyAtomicList(t *rapid.T, depth int) (schemaProps, any) {
	entries, entry := anyValue(t, depth-1)
	return list(entries, ""), []any{entry, entry}
}

func anySet(t *rapid.T, _ int) (schemaProps, any) {
	texts := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 4, rapid.ID[string]).Draw(t, "set")
	var set []any
	for _, text := range texts {
		set = append(set, text)
	}
	return list(schemaProps{Type: "string"}, "set"), append([]any{}, set...)
}

func anyListMap(t *rapid.T, depth int) (schemaProps, any) {
	value, content := anyValue(t, depth-1)
	entries := schemaProps{Type: "object", Required: []string{"key"}, Properties: map[string]schemaProps{"key": {Type: "string"}, "value": value}}
	s := list(entries, "map")
	s.XListMapKeys = []string{"key"}
	return s, []any{map[string]any{"key": "a", "value": content}, map[string]any{"key": "b"}}
}

func list(entries schemaProps, listType string) schemaProps {
	most := int64(10)
	s := schemaProps{Type: "array", MaxItems: &most, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &entries}}
	if listType != "" {
		s.XListType = &listType
	}
	return s
}
