package component

import (
	"strings"
)

// Object is an object of a manifest.
type Object map[string]any

// Ref identifies an object across versions of its API.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

func (r Ref) String() string {
	kind := r.Kind
	if r.Group != "" {
		kind += "." + r.Group
	}
	if r.Namespace != "" {
		return kind + " " + r.Namespace + "/" + r.Name
	}
	return kind + " " + r.Name
}

// CRD reports whether the object is a CustomResourceDefinition.
func (r Ref) CRD() bool {
	return r.Kind == "CustomResourceDefinition" && r.Group == "apiextensions.k8s.io"
}

// secret reports whether the object is a Secret.
func (r Ref) secret() bool { return r.Kind == "Secret" && r.Group == "" }

// RefOf returns the reference of an object in a Helm release's namespace, which manifests may leave
// out.
func RefOf(o Object, namespace string) Ref {
	apiVersion, _ := o["apiVersion"].(string)
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	metadata, _ := o["metadata"].(map[string]any)
	kind, _ := o["kind"].(string)
	name, _ := metadata["name"].(string)
	in, _ := metadata["namespace"].(string)
	if in == namespace {
		in = ""
	}
	return Ref{Group: group, Kind: kind, Namespace: in, Name: name}
}
