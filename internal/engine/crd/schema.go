package crd

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Schema is one version of a CRD, compiled as the API server does it.
type Schema struct {
	apiVersion string
	// preserve is the legacy spec.preserveUnknownFields: nothing is dropped.
	preserve  bool
	hasStatus bool // a status subresource
	scale     *apiextensionsv1.CustomResourceSubresourceScale

	structural *schema.Structural // nil without a schema
	validator  validation.SchemaValidator
	rules      *cel.Validator // nil without rules
}

// Compile compiles one version of a CRD.
func Compile(crd *Definition, version string) (*Schema, error) {
	v := versionOf(crd, version)
	if v == nil {
		return nil, fmt.Errorf("cannot compile %s: it has no version %s", crd.Name, version)
	}
	s := &Schema{apiVersion: crd.Spec.Group + "/" + version, preserve: crd.Spec.PreserveUnknownFields}
	if v.Subresources != nil {
		s.hasStatus, s.scale = v.Subresources.Status != nil, v.Subresources.Scale
	}
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return s, nil
	}
	if err := s.compile(v.Schema); err != nil {
		return nil, fmt.Errorf("cannot compile the schema of %s %s: %w", crd.Name, version, err)
	}
	return s, nil
}

func (s *Schema) compile(of *apiextensionsv1.CustomResourceValidation) error {
	props, err := internalSchema(of)
	if err != nil {
		return err
	}
	if s.structural, err = structuralOf(props); err != nil && !s.preserve {
		return err
	}
	if s.validator, _, err = validation.NewSchemaValidator(props); err != nil {
		return err
	}
	if s.structural != nil {
		s.rules = cel.NewValidator(s.structural, true, celconfig.PerCallLimit)
	}
	return nil
}

// structuralOf returns the structural schema with pruned defaults.
func structuralOf(props *apiextensions.JSONSchemaProps) (*schema.Structural, error) {
	s, err := schema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	s = s.DeepCopy() // it shares its defaults with the definition
	if err := defaulting.PruneDefaults(s); err != nil {
		return nil, err
	}
	return s, nil
}

func internalSchema(of *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	var out apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(of, &out, nil); err != nil {
		return nil, err
	}
	return out.OpenAPIV3Schema, nil
}
