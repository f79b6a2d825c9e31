package main

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/engine/install"
)

// The markers in place of values. They are valid image names, so that install accepts them.
const (
	markController = "marker/refit-controller"
	markAgent      = "marker/refit-agent"
	markService    = "marker-service"
)

// render returns the objects of `refit install` with markers, and which of them
// `refit install --standalone` omits.
func render() (objects []*unstructured.Unstructured, optional map[string]bool, err error) {
	o := install.Options{
		Manifests: config.Files, Version: "marker", Controller: markController, Agent: markAgent,
		Keys: map[string]string{"marker.pem": "marker"},
	}
	objects, err = install.Render(o)
	if err != nil {
		return nil, nil, err
	}
	o.Standalone = true
	kept, err := install.Render(o)
	if err != nil {
		return nil, nil, err
	}
	optional = map[string]bool{}
	for _, object := range objects {
		optional[keyOf(object)] = true
	}
	for _, object := range kept {
		delete(optional, keyOf(object))
	}
	if len(optional) == 0 {
		return nil, nil, errors.New("there is no object of the controller")
	}
	return objects, optional, nil
}

func keyOf(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}
