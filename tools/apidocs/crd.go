package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
)

var errNoCRDs = errors.New("no CRDs found")

// kind is one CRD, in its newest version.
type kind struct {
	Name       string
	ShortNames []string
	Columns    []string
	Schema     *schema
}

type definition struct {
	Spec struct {
		Names struct {
			Kind       string
			ShortNames []string
		}
		Versions []struct {
			AdditionalPrinterColumns []struct {
				Name     string
				Priority int
			}
			Schema struct{ OpenAPIV3Schema *schema }
		}
	}
}

// schema contains the parts of a structural schema that the reference shows.
type schema struct {
	Description          string
	Type                 string
	Format               string
	Pattern              string
	Default              any
	Enum                 []string
	MinLength            int
	MaxLength            int
	MaxItems             int
	MaxProperties        int
	Minimum              *int64
	Maximum              *int64
	Items                *schema
	Properties           map[string]*schema
	AdditionalProperties *schema
	Required             []string
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
	Rules                []struct {
		Message string
	} `json:"x-kubernetes-validations"`
}

// readKinds reads the CRDs of a directory, sorted by file name.
func readKinds(dir string) ([]kind, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("listing CRDs: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, errNoCRDs)
	}
	var kinds []kind
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading CRD: %w", err)
		}
		var crd definition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		newest := crd.Spec.Versions[len(crd.Spec.Versions)-1]
		k := kind{Name: crd.Spec.Names.Kind, ShortNames: crd.Spec.Names.ShortNames, Schema: newest.Schema.OpenAPIV3Schema}
		for _, column := range newest.AdditionalPrinterColumns {
			if column.Priority == 0 {
				k.Columns = append(k.Columns, column.Name)
			}
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// field is a field of an object.
type field struct {
	path     string
	required bool
	schema   *schema
}

// fieldsOf lists the fields below a schema, parents first. It omits the fields of conditions, which
// Kubernetes documents.
func fieldsOf(path string, s *schema) []field {
	var all []field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		f := field{path: strings.TrimPrefix(path+"."+name, "."), required: slices.Contains(s.Required, name), schema: property}
		all = append(all, f)
		within := property
		below := f.path
		if property.Items != nil {
			within, below = property.Items, f.path+"[]"
		}
		if name != "conditions" {
			all = append(all, fieldsOf(below, within)...)
		}
	}
	return all
}

// rule is a validation rule of a CRD.
type rule struct{ path, message string }

func rulesOf(path string, s *schema) []rule {
	var all []rule
	for _, r := range s.Rules {
		all = append(all, rule{path, r.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, rulesOf(strings.TrimPrefix(path+"."+name, "."), s.Properties[name])...)
	}
	if s.Items != nil {
		all = append(all, rulesOf(path+"[]", s.Items)...)
	}
	return all
}
