package crd

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// setDefaults sets the defaults of the schema, which the API server also does when it reads an
// object from etcd. Without them, a new required field with a default would look missing.
func (s *Schema) setDefaults(object *unstructured.Unstructured) {
	defaulting.Default(object.Object, s.structural)
}
