package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/engine/install"
)

// The markers in place of values. They are valid image names, so that install accepts them.
const (
	markController = "marker/refit-controller"
	markAgent      = "marker/refit-agent"
	markComponents = "marker/refit-components"
	markService    = "marker-service"
	markKey        = "marker.pem"
)

// render returns the objects of `refit install --components` with markers, and the values that
// enable those which `refit install --standalone` or an install without --components omits.
func render() (objects []*unstructured.Unstructured, optional map[string]string, err error) {
	o := install.Options{
		Manifests: config.Files, Version: "marker", Controller: markController, Agent: markAgent, Components: markComponents,
		Keys: map[string]string{markKey: "marker"},
	}
	objects, err = install.Render(o)
	if err != nil {
		return nil, nil, err
	}
	optional = map[string]string{}
	standalone, without := o, o
	standalone.Standalone, without.Components = true, ""
	for value, o := range map[string]install.Options{".Values.controller.enabled": standalone, ".Values.components.enabled": without} {
		kept, err := install.Render(o)
		if err != nil {
			return nil, nil, err
		}
		omitted := map[string]bool{}
		for _, object := range objects {
			omitted[keyOf(object)] = true
		}
		for _, object := range kept {
			delete(omitted, keyOf(object))
		}
		if len(omitted) == 0 {
			return nil, nil, fmt.Errorf("there is no object that %s enables", value)
		}
		for key := range omitted {
			optional[key] = value
		}
	}
	return objects, optional, nil
}

func keyOf(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}
