package api_test

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	openapi "github.com/refit-dev/refit/api"
	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// schema is what this test compares of a schema.
type schema struct {
	GoType     string            `json:"x-go-type"`
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

// shared are the documents that the HTTP API has in common with the CLI. The types of their fields
// are compared, too.
var shared = []any{
	cliv1alpha1.Operation{},
	cliv1alpha1.PastOperation{},
	cliv1alpha1.Explanation{},
	cliv1alpha1.ListedRelease{},
	cliv1alpha1.NodeRow{},
	cliv1alpha1.Change{},
	cliv1alpha1.Outage{},
	cliv1alpha1.HostStatus{},
	cliv1alpha1.Report{},
	cliv1alpha1.BundlePart{},
	refitv1alpha1.ClusterUpgradeSpec{},
	refitv1alpha1.ComponentForm{},
}

// specs are the names of schemas whose types have names that documents of the CLI have as well.
var specs = map[reflect.Type]string{
	reflect.TypeFor[refitv1alpha1.Waiver](): "WaiverSpec",
	reflect.TypeFor[refitv1alpha1.Pool]():   "PoolSpec",
	reflect.TypeFor[refitv1alpha1.Canary](): "CanarySpec",
	reflect.TypeFor[refitv1alpha1.Drain]():  "DrainSpec",
}

// nameOf is the name of the schema of a type.
func nameOf(t reflect.Type) string { return cmp.Or(specs[t], t.Name()) }

// aliases are the names under which openapi.yaml imports packages.
var aliases = map[string]string{
	reflect.TypeFor[cliv1alpha1.Report]().PkgPath():               "cliv1alpha1",
	reflect.TypeFor[refitv1alpha1.ClusterUpgradeSpec]().PkgPath(): "refitv1alpha1",
	reflect.TypeFor[metav1.Duration]().PkgPath():                  "metav1",
	reflect.TypeFor[intstr.IntOrString]().PkgPath():               "intstr",
}

// goTypeOf is the x-go-type of a type.
func goTypeOf(t reflect.Type) string { return aliases[t.PkgPath()] + "." + t.Name() }

// leaf is true for a type whose fields are not those of its schema.
func leaf(t reflect.Type) bool {
	return t == reflect.TypeFor[metav1.Duration]() || t == reflect.TypeFor[metav1.Time]() || t == reflect.TypeFor[intstr.IntOrString]() || t == reflect.TypeFor[refitv1alpha1.Labels]()
}

func schemas(t *testing.T) map[string]schema {
	t.Helper()
	var document struct {
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	if err := yaml.Unmarshal(openapi.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	return document.Components.Schemas
}

// TestSchemasMatchTheDocumentsOfTheCLI fails if a field of a document is missing in its schema, has
// another type, or is required although it may be absent.
func TestSchemasMatchTheDocumentsOfTheCLI(t *testing.T) {
	all, compared := schemas(t), map[string]bool{}
	for _, document := range shared {
		compare(t, all, reflect.TypeOf(document), compared)
	}
	for name, s := range all {
		if s.GoType != "" && !compared[name] {
			t.Errorf("the schema %s has the type %s, and no document that this test compares uses it", name, s.GoType)
		}
	}
}

func compare(t *testing.T, all map[string]schema, document reflect.Type, compared map[string]bool) {
	t.Helper()
	name := nameOf(document)
	if compared[name] {
		return
	}
	compared[name] = true
	s, found := all[name]
	if !found || s.GoType != goTypeOf(document) {
		t.Errorf("there is no schema of %s with its type", name)
		return
	}
	if leaf(document) {
		return
	}
	var required []string
	for field := range fieldsOf(document) {
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !strings.Contains(options, "omit") {
			required = append(required, tag)
		}
		property, found := s.Properties[tag]
		if !found {
			t.Errorf("the schema of %s has no property %s", name, tag)
			continue
		}
		if want, got := shapeOf(field.Type), property.shape(); want != got {
			t.Errorf("%s of %s is %s in the schema, want %s", tag, name, got, want)
		}
		delete(s.Properties, tag)
		if inner := innermost(field.Type); leaf(inner) || inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]() {
			compare(t, all, inner, compared)
		}
	}
	for property := range s.Properties {
		t.Errorf("%s has no field %s", name, property)
	}
	if strings.HasPrefix(s.GoType, "refitv1alpha1.") {
		return // all fields of a spec are optional in Go
	}
	if slices.Sort(required); !slices.Equal(required, slices.Sorted(slices.Values(s.Required))) {
		t.Errorf("the schema of %s requires %v, want %v", name, s.Required, required)
	}
}

func fieldsOf(document reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for field := range document.Fields() {
			if !yield(field) {
				return
			}
		}
	}
}

func innermost(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// shapeOf is the type of a field as shape describes a property.
func shapeOf(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[]" + shapeOf(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return "string date-time"
	case t.Kind() == reflect.Struct || leaf(t):
		return nameOf(t)
	case t.Kind() == reflect.Int64:
		return "integer int64"
	case t.Kind() == reflect.Int32:
		return "integer int32"
	case t.Kind() == reflect.Map:
		return "object"
	case t.Kind() == reflect.Interface:
		return "" // any value
	case t.Kind() == reflect.Int:
		return "integer"
	case t.Kind() == reflect.Bool:
		return "boolean"
	}
	return t.Kind().String()
}

func (s schema) shape() string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case s.Items != nil:
		return "[]" + s.Items.shape()
	}
	return strings.TrimSpace(s.Type + " " + s.Format)
}
