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

var errNoCRDs = errors.New("there are no CRDs")

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

// schema is a structural schema, as far as the reference tells of it.
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

// readKinds reads the CRDs of a folder, in the order in which a reader wants them.
func readKinds(folder string) ([]kind, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("looking for CRDs: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", folder, errNoCRDs)
	}
	var kinds []kind
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a CRD: %w", err)
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

// field is one field of an object, by its path.
type field struct {
	path     string
	required bool
	schema   *schema
}

// fieldsOf lists the fields below a schema, each before those within it. What
// is within a condition, Kubernetes describes.
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

// refusal is a rule of a CRD.
type refusal struct{ path, message string }

func refusalsOf(path string, s *schema) []refusal {
	var all []refusal
	for _, rule := range s.Rules {
		all = append(all, refusal{path, rule.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, refusalsOf(strings.TrimPrefix(path+"."+name, "."), s.Properties[name])...)
	}
	if s.Items != nil {
		all = append(all, refusalsOf(path+"[]", s.Items)...)
	}
	return all
}
