package install

import (
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// folders are the folders of package config that are installed.
var folders = []string{"crd", "policy", "rbac", "controller", "agent", "components"}

// Render builds the objects of an install in the order in which they are applied. Equal options
// give equal objects.
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
			// Namespaces are always installed: they have the Lease of the leader election, and the
			// charts of ClusterReleases.
			omitted := folder == "controller" && o.Standalone || folder == "components" && o.Components == ""
			if omitted && object.GetKind() != kindNamespace {
				continue
			}
			objects = append(objects, object)
		}
	}
	sortForApply(objects)
	for _, object := range objects {
		if _, err := refOf(object); err != nil {
			return nil, err
		}
		if err := o.fill(object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		setLabels(object)
	}
	return objects, nil
}

// fill sets the options in an object.
func (o *Options) fill(object *unstructured.Unstructured) error {
	switch kind, name := object.GetKind(), object.GetName(); {
	case kind == kindConfigMap && name == agentName:
		return unstructured.SetNestedMap(object.Object, o.configuration(), "data")
	case kind == kindDaemonSet && name == agentName:
		return fillWorkload(object, o.Agent, o.configuration())
	case kind == kindAccount:
		return o.fillAccount(object)
	case kind == kindDeployment && name == controllerName:
		if err := errors.Join(o.addTolerations(object), o.addTraces(object)); err != nil {
			return err
		}
		return fillWorkload(object, o.Controller, nil)
	case kind == kindConfigMap && name == componentsName:
		return unstructured.SetNestedMap(object.Object, o.keys(), "data")
	case kind == kindDeployment && name == componentsName:
		if err := errors.Join(o.addTolerations(object), o.mountKeys(object)); err != nil {
			return err
		}
		return fillWorkload(object, o.Components, o.keys())
	case kind == kindPolicy && name == agentPolicy:
		return fillPolicy(object, o.Agent)
	}
	return nil
}

// configuration returns the data of the agents' ConfigMap.
func (o *Options) configuration() map[string]any {
	data := map[string]any{settingsKey: o.Settings}
	if o.Settings == "" {
		data[settingsKey] = "{}\n"
	}
	if o.Stores != "" {
		data[storesKey] = o.Stores
	}
	maps.Copy(data, o.keys())
	return data
}

// keys returns the data of the ConfigMap of refit-components.
func (o *Options) keys() map[string]any {
	data := map[string]any{}
	for name, key := range o.Keys {
		data[name] = key
	}
	return data
}

// fillPolicy sets the image that privileged pods must have.
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
	return errors.New("there is no variable for the image")
}

// setLabels marks an object as one of Refit.
func setLabels(object *unstructured.Unstructured) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelManagedBy], labels[labelPartOf] = managedBy, partOf
	object.SetLabels(labels)
}

// isManaged reports whether an object has the label of Refit.
func isManaged(object *unstructured.Unstructured) bool {
	return object.GetLabels()[labelManagedBy] == managedBy
}

// isRemovable reports whether a removal deletes an object: it has the label of Refit, or the Helm
// chart of Refit installed it.
func isRemovable(object *unstructured.Unstructured) bool {
	return isManaged(object) || isOfChart(object)
}

func isOfChart(object *unstructured.Unstructured) bool {
	labels := object.GetLabels()
	return labels[labelManagedBy] == managedByHelm && labels[labelPartOf] == partOf
}
