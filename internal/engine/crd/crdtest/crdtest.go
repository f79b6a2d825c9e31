// Package crdtest reads the corpus of CRD changes for tests: each file has two definitions, live
// objects and the findings that are expected.
package crdtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Case is one change of the corpus.
type Case struct {
	// Name is the name of the file without its extension, which states the situation.
	Name string
	// Comment is the first line of the file.
	Comment  string
	Old, New *apiextensionsv1.CustomResourceDefinition
	Objects  []*unstructured.Unstructured
	Findings []Finding
	// Server is what differs at a real API server, whose creates a live object never sees.
	Server Server
}

// Finding is an expected finding. Version is checked if it is not empty.
type Finding struct {
	Reason   string `json:"reason"`
	Defect   string `json:"defect"`
	Severity string `json:"severity,omitempty"`
	Version  string `json:"version,omitempty"`
	Object   string `json:"object,omitempty"`
	Field    string `json:"field,omitempty"`
}

// Server is what a test with an API server cannot compare.
type Server struct {
	// Skip is why the case needs something that the server lacks.
	Skip string `json:"skip,omitempty"`
	// Since is the first minor version that refuses the objects. Older ones are not compared: an
	// upgrade leads to the newer verdict.
	Since string `json:"since,omitempty"`
	// RefusesCreate means that a create is refused although live objects are not concerned.
	RefusesCreate bool `json:"refusesCreate,omitempty"`
}

// file is the format of a case.
type file struct {
	Old      definition       `json:"old"`
	New      definition       `json:"new"`
	Objects  []map[string]any `json:"objects"`
	Findings []Finding        `json:"findings"`
	Server   Server           `json:"server"`
}

// definition is a CRD without what all cases have in common. Spec is the schema of .spec of the
// only version v1; Versions are for all other cases.
type definition struct {
	Group          string                                    `json:"group"`
	Scope          apiextensionsv1.ResourceScope             `json:"scope"`
	Plural         string                                    `json:"plural"`
	Kind           string                                    `json:"kind"`
	Spec           *apiextensionsv1.JSONSchemaProps          `json:"spec"`
	Versions       []version                                 `json:"versions"`
	StoredVersions []string                                  `json:"storedVersions"`
	Conversion     *apiextensionsv1.CustomResourceConversion `json:"conversion"`
	Preserve       bool                                      `json:"preserveUnknownFields"`
}

// version is one version of a CRD, served unless served is false. Root replaces the whole schema.
type version struct {
	Name         string                                      `json:"name"`
	Served       *bool                                       `json:"served"`
	Storage      bool                                        `json:"storage"`
	Spec         *apiextensionsv1.JSONSchemaProps            `json:"spec"`
	Status       *apiextensionsv1.JSONSchemaProps            `json:"status"`
	Root         *apiextensionsv1.JSONSchemaProps            `json:"root"`
	Subresources *apiextensionsv1.CustomResourceSubresources `json:"subresources"`
}

// Load reads all cases of a folder.
func Load(files fs.FS, folder string) ([]Case, error) {
	names, err := fs.Glob(files, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, name := range names {
		c, err := Read(files, name)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// Read reads one case.
func Read(files fs.FS, name string) (Case, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return Case{}, err
	}
	c, err := parse(text)
	if err != nil {
		return Case{}, fmt.Errorf("cannot read %s: %w", name, err)
	}
	c.Name = strings.TrimSuffix(path.Base(name), ".yaml")
	return c, nil
}

func parse(text []byte) (Case, error) {
	var f file
	if err := yaml.UnmarshalStrict(text, &f); err != nil {
		return Case{}, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	c := Case{
		Comment: strings.TrimPrefix(string(line), "# "), Old: f.Old.crd(), New: f.New.crd(), Findings: f.Findings, Server: f.Server,
	}
	for _, o := range f.Objects {
		object, err := f.Old.object(c.Old, o)
		if err != nil {
			return Case{}, err
		}
		c.Objects = append(c.Objects, object)
	}
	return c, nil
}

// object completes an object with the storage version and kind of the old definition. It is decoded
// from JSON, so that its integers are those of the API.
func (d definition) object(crd *apiextensionsv1.CustomResourceDefinition, content map[string]any) (*unstructured.Unstructured, error) {
	for i := range crd.Spec.Versions {
		if _, found := content["apiVersion"]; !found && crd.Spec.Versions[i].Storage {
			content["apiVersion"] = crd.Spec.Group + "/" + crd.Spec.Versions[i].Name
		}
	}
	content["kind"] = crd.Spec.Names.Kind
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		object.SetNamespace("default")
	}
	return object, nil
}

func (d definition) crd() *apiextensionsv1.CustomResourceDefinition {
	group, plural, kind, scope := or(d.Group, "corpus.example.com"), or(d.Plural, "widgets"), or(d.Kind, "Widget"), or(d.Scope, apiextensionsv1.NamespaceScoped)
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group, ResourceVersion: "1"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: scope, Conversion: d.Conversion, PreserveUnknownFields: d.Preserve,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List",
			},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			StoredVersions: d.StoredVersions,
			Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
				{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
			},
		},
	}
	versions := d.Versions
	if len(versions) == 0 {
		versions = []version{{Name: "v1", Storage: true, Spec: d.Spec}}
	}
	for _, v := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, v.crdVersion())
		if v.Storage && len(d.StoredVersions) == 0 {
			crd.Status.StoredVersions = []string{v.Name}
		}
	}
	return crd
}

func (v version) crdVersion() apiextensionsv1.CustomResourceDefinitionVersion {
	schema := v.Root
	if schema == nil {
		schema = &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		if v.Spec != nil {
			schema.Properties["spec"] = *v.Spec
		}
		if v.Status != nil {
			schema.Properties["status"] = *v.Status
		}
	}
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: v.Name, Served: v.Served == nil || *v.Served, Storage: v.Storage, Subresources: v.Subresources,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
	}
}

func or[T ~string](value, otherwise T) T {
	if value == "" {
		return otherwise
	}
	return value
}

// New returns a CRD with the only version v1 and a schema of .spec.
func New(spec apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	return definition{Spec: &spec}.crd()
}
