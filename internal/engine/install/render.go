package install

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// folders are those of package config.
var folders = []string{"crd", "policy", "rbac", "controller", "agent"}

// Render makes the objects of an install, in the order in which they are applied. Equal options make equal objects.
func Render(o Options) ([]*unstructured.Unstructured, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, folder := range folders {
		found, err := readFolder(o.Manifests, folder)
		if err != nil {
			return nil, err
		}
		for _, object := range found {
			if folder == "controller" && o.Standalone && object.GetKind() != kindNamespace { // the Lease of who leads is in it
				continue
			}
			objects = append(objects, object)
		}
	}
	inOrder(objects)
	for _, object := range objects {
		if _, err := refOf(object); err != nil {
			return nil, err
		}
		if err := o.fill(object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		mark(object)
	}
	return objects, nil
}

// fill writes what was chosen into an object.
func (o *Options) fill(object *unstructured.Unstructured) error {
	switch kind, name := object.GetKind(), object.GetName(); {
	case kind == kindConfigMap && name == agentName:
		return unstructured.SetNestedMap(object.Object, o.configuration(), "data")
	case kind == kindDaemonSet && name == agentName:
		return fillWorkload(object, o.Agent, o.configuration())
	case kind == kindDeployment && name == controllerName:
		return fillWorkload(object, o.Controller, nil)
	case kind == kindPolicy && name == agentPolicy:
		return fillPolicy(object, o.Agent)
	}
	return nil
}

// configuration is what the agents' ConfigMap holds.
func (o *Options) configuration() map[string]any {
	data := map[string]any{settingsKey: o.Settings}
	if o.Settings == "" {
		data[settingsKey] = "{}\n"
	}
	for name, key := range o.Keys {
		data[name] = key
	}
	return data
}

// fillPolicy pins the image of the pods that may be privileged.
func fillPolicy(object *unstructured.Unstructured, image string) error {
	variables, _, err := unstructured.NestedSlice(object.Object, "spec", "variables")
	if err != nil {
		return err
	}
	for _, variable := range variables {
		if fields, ok := variable.(map[string]any); ok && fields["name"] == "image" {
			fields["expression"] = "'" + image + "'"
			return unstructured.SetNestedSlice(object.Object, variables, "spec", "variables")
		}
	}
	return errors.New("it has no variable for the image")
}

// mark writes whose an object is.
func mark(object *unstructured.Unstructured) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelManagedBy], labels[labelPartOf] = managedBy, partOf
	object.SetLabels(labels)
}

// ours says whether an object has our mark.
func ours(object *unstructured.Unstructured) bool {
	return object.GetLabels()[labelManagedBy] == managedBy
}
