//go:build apiserver

package crd

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/internal/engine/crd"
)

// maxRepairs bounds how often a sample loses a field that its CRD refuses.
const maxRepairs = 200

// samples returns two objects of a CRD in its storage version, made from its schema: one with all
// fields and one with the required ones.
func samples(t *testing.T, definition *crd.Definition) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for name, optional := range map[string]bool{"all-fields": true, "required-fields": false} {
		if object := sample(t, definition, optional); object != nil {
			object.SetName(name)
			all = append(all, object)
		}
	}
	return all
}

// sample makes an object that its CRD accepts, or nil.
func sample(t *testing.T, definition *crd.Definition, optional bool) *unstructured.Unstructured {
	t.Helper()
	version := crd.StorageVersion(definition)
	schema, err := crd.Compile(definition, version)
	must(t, err)
	root := definition.Spec.Versions[slices.IndexFunc(definition.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version
	})].Schema.OpenAPIV3Schema
	content := filled(root, optional).(map[string]any)
	delete(content, "metadata")
	delete(content, "status")
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(definition.Spec.Group + "/" + version)
	object.SetKind(definition.Spec.Names.Kind)
	object.SetName("sample")
	if definition.Spec.Scope == apiextensionsv1.NamespaceScoped {
		object.SetNamespace("default")
	}
	for range maxRepairs {
		verdict := schema.Check(t.Context(), object)
		if len(verdict.Refusals) == 0 {
			return verdict.Object // live objects have all defaults
		}
		if !remove(content, verdict.Refusals[0].Field) {
			break
		}
	}
	return nil
}

// remove removes the field of a path, or the nearest parent that can be removed.
func remove(content map[string]any, path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	for ; len(parts) > 0; parts = parts[:len(parts)-1] {
		if parent, ok := at(content, parts[:len(parts)-1]).(map[string]any); ok {
			if _, found := parent[parts[len(parts)-1]]; found {
				delete(parent, parts[len(parts)-1])
				return true
			}
		}
	}
	return false
}

func at(value any, path []string) any {
	for _, name := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			value = v[0] // samples have one entry
		default:
			return nil
		}
	}
	return value
}

// filled returns a value of a schema.
func filled(s *apiextensionsv1.JSONSchemaProps, optional bool) any {
	switch {
	case s.Default != nil:
		return decoded(*s.Default)
	case len(s.Enum) > 0:
		return decoded(s.Enum[0])
	case s.XIntOrString:
		return int64(1)
	}
	switch s.Type {
	case "string":
		return filledText(s)
	case "integer":
		return filledNumber(s)
	case "number":
		return float64(filledNumber(s))
	case "boolean":
		return true
	case "array":
		if !optional && (s.MinItems == nil || *s.MinItems == 0) || s.Items == nil {
			return []any{}
		}
		return []any{filled(s.Items.Schema, optional)}
	default:
		return filledObject(s, optional)
	}
}

func filledObject(s *apiextensionsv1.JSONSchemaProps, optional bool) map[string]any {
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if optional || slices.Contains(s.Required, name) {
			object[name] = filled(&property, optional)
		}
	}
	if s.XEmbeddedResource {
		object["apiVersion"], object["kind"], object["metadata"] = "v1", "ConfigMap", map[string]any{"name": "embedded"}
	}
	if optional && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		object["key"] = filled(s.AdditionalProperties.Schema, optional)
	}
	return object
}

func filledNumber(s *apiextensionsv1.JSONSchemaProps) int64 {
	if s.Minimum != nil && *s.Minimum > 1 {
		return int64(*s.Minimum)
	}
	if s.Maximum != nil && *s.Maximum < 1 {
		return int64(*s.Maximum)
	}
	return 1
}

// texts are values for the formats and patterns of real CRDs.
var texts = []string{
	"a", "aa", "abc", "A", "1", "1Gi", "10s", "10.0.0.1", "10.0.0.0/24", "2026-01-02T03:04:05Z", "example.com/a", "https://example.com/a",
	"aa:bb:cc:dd:ee:ff", "YQ==", "fe80::1", "True", "8c5b1d1e-6f5c-4d7b-9a65-0d1a2b3c4d5e", "sha256:" + strings.Repeat("a", 64), strings.Repeat("a", 32),
}

func filledText(s *apiextensionsv1.JSONSchemaProps) string {
	switch s.Format {
	case "date-time":
		return "2026-01-02T03:04:05Z"
	case "byte":
		return "YQ=="
	case "cidr":
		return "10.0.0.0/24"
	case "ipv4":
		return "10.0.0.1"
	case "uri":
		return "https://example.com/a"
	}
	for _, text := range texts {
		matches, err := regexp.MatchString(s.Pattern, text)
		long := s.MinLength == nil || int64(len(text)) >= *s.MinLength
		short := s.MaxLength == nil || int64(len(text)) <= *s.MaxLength
		if err == nil && matches && long && short {
			return text
		}
	}
	return "a"
}

func decoded(raw apiextensionsv1.JSON) any {
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"K","value":` + string(raw.Raw) + `}`)); err != nil {
		var value any
		_ = json.Unmarshal(raw.Raw, &value)
		return value
	}
	return object.Object["value"]
}
