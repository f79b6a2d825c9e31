package crd

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// missingFields returns the fields of one version that another version of the same definition
// lacks: what a write in the first loses if it is stored in the second. It includes status, which
// controllers would write again and again.
func missingFields(crd *Definition, of, in string) ([]string, error) {
	outer, err := Compile(crd, in)
	if err != nil {
		return nil, err
	}
	inner, err := Compile(crd, of)
	if err != nil {
		return nil, err
	}
	if crd.Spec.PreserveUnknownFields || inner.structural == nil || outer.structural == nil {
		return nil, nil
	}
	var missing []string
	compareFields("", inner.structural, outer.structural, true, &missing)
	return missing, nil
}

// compareFields appends the paths of the inner schema that pruning with the outer schema drops.
func compareFields(path string, inner, outer *schema.Structural, root bool, missing *[]string) {
	if outer == nil {
		*missing = append(*missing, path)
		return
	}
	if inner.XPreserveUnknownFields && !outer.XPreserveUnknownFields {
		*missing = append(*missing, fmt.Sprintf("%s.*", path))
	}
	if inner.Items != nil && !outer.XPreserveUnknownFields {
		compareFields(path+"[*]", inner.Items, outer.Items, false, missing)
	}
	if values := inner.AdditionalProperties; values != nil && !outer.XPreserveUnknownFields {
		compareValues(path, values, outer, missing)
	}
	for _, name := range slices.Sorted(maps.Keys(inner.Properties)) {
		if (root || outer.XEmbeddedResource) && isMeta(name) {
			continue
		}
		property := inner.Properties[name]
		compareProperty(join(path, name), name, &property, outer, missing)
	}
}

func compareProperty(path, name string, inner, outer *schema.Structural, missing *[]string) {
	property, found := outer.Properties[name]
	switch {
	case found:
		compareFields(path, inner, &property, false, missing)
	case outer.AdditionalProperties != nil && outer.AdditionalProperties.Structural != nil:
		compareFields(path, inner, outer.AdditionalProperties.Structural, false, missing)
	case outer.XPreserveUnknownFields:
	default:
		*missing = append(*missing, path)
	}
}

// compareValues compares the values of a map.
func compareValues(path string, inner *schema.StructuralOrBool, outer *schema.Structural, missing *[]string) {
	switch {
	case outer.AdditionalProperties == nil:
		*missing = append(*missing, path+"[*]")
	case inner.Structural != nil && outer.AdditionalProperties.Structural != nil:
		compareFields(path+"[*]", inner.Structural, outer.AdditionalProperties.Structural, false, missing)
	case inner.Structural != nil && hasFields(inner.Structural):
		*missing = append(*missing, path+"[*]")
	}
}

func hasFields(s *schema.Structural) bool {
	return len(s.Properties) > 0 || s.AdditionalProperties != nil || s.XPreserveUnknownFields || s.Items != nil
}

func isMeta(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
