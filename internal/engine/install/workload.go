package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// fillWorkload sets the image of the containers, and a hash of the template and its configuration,
// so that the pods are recreated when either changes.
func fillWorkload(object *unstructured.Unstructured, image string, configuration map[string]any) error {
	found, err := containers(object)
	if err != nil {
		return err
	}
	for _, container := range found {
		container["image"] = image
	}
	template, _, err := unstructured.NestedMap(object.Object, "spec", "template")
	if err != nil {
		return err
	}
	text, err := json.Marshal([]any{template, configuration})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	return unstructured.SetNestedField(object.Object, hex.EncodeToString(sum[:8]), "spec", "template", "metadata", "annotations", annotationTemplate)
}

// fillAccount sets the Secrets with which the pods of an account pull their images.
func (o *Options) fillAccount(object *unstructured.Unstructured) error {
	if len(o.PullSecrets) == 0 && !o.NoPullSecrets {
		return nil
	}
	secrets := []any{} // an empty list takes the field from other field managers
	for _, name := range o.PullSecrets {
		secrets = append(secrets, map[string]any{"name": name})
	}
	return unstructured.SetNestedSlice(object.Object, secrets, "imagePullSecrets")
}

// addTolerations adds the tolerations that a workload does not have yet.
func (o *Options) addTolerations(object *unstructured.Unstructured) error {
	all, _, err := unstructured.NestedSlice(object.Object, tolerationsOf...)
	if err != nil {
		return err
	}
	for i := range o.Tolerations {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&o.Tolerations[i])
		if err != nil {
			return fmt.Errorf("cannot encode a toleration: %w", err)
		}
		if !slices.ContainsFunc(all, func(each any) bool { return reflect.DeepEqual(each, any(fields)) }) {
			all = append(all, fields)
		}
	}
	return unstructured.SetNestedSlice(object.Object, all, tolerationsOf...)
}

// keysDirectory is where refit-components reads its keys.
const keysDirectory = "/etc/refit/keys"

// mountKeys mounts each key as a file of its own. In a mounted ConfigMap files are symlinks, which
// may change at any time; artifact.LoadKeys refuses them.
func (o *Options) mountKeys(object *unstructured.Unstructured) error {
	found, err := containers(object)
	if err != nil {
		return err
	}
	for _, container := range found {
		mounts, _ := container["volumeMounts"].([]any)
		for _, name := range slices.Sorted(maps.Keys(o.Keys)) {
			mounts = append(mounts, map[string]any{"name": "keys", "mountPath": keysDirectory + "/" + name, "subPath": name, "readOnly": true})
		}
		container["volumeMounts"] = mounts
	}
	return nil
}

// tracesVariable is the variable that has the URL of the collector.
const tracesVariable = "OTEL_EXPORTER_OTLP_ENDPOINT"

// addTraces sets the collector of traces in the environment of a workload.
func (o *Options) addTraces(object *unstructured.Unstructured) error {
	found, err := containers(object)
	if err != nil || o.Traces == "" {
		return err
	}
	for _, container := range found {
		environment, _ := container["env"].([]any)
		container["env"] = append(environment, map[string]any{"name": tracesVariable, "value": o.Traces})
	}
	return nil
}

// tolerationsOf is the path of the tolerations of a workload.
var tolerationsOf = []string{"spec", "template", "spec", "tolerations"}

// containers returns the containers of a workload, init containers first. They are not copies.
func containers(object *unstructured.Unstructured) ([]map[string]any, error) {
	var out []map[string]any
	for _, list := range []string{"initContainers", "containers"} {
		value, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "spec", list)
		if err != nil {
			return nil, err
		}
		all, ok := value.([]any)
		if found && !ok {
			return nil, fmt.Errorf("%s is not a list", list)
		}
		for _, each := range all {
			container, ok := each.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s has an element that is not a container", list)
			}
			out = append(out, container)
		}
	}
	return out, nil
}

// imageOf returns the image of a workload's first container.
func imageOf(object *unstructured.Unstructured) string {
	found, err := containers(object)
	if err != nil || len(found) == 0 {
		return ""
	}
	image, _ := found[0]["image"].(string)
	return image
}

// templateOf returns the template hash of a workload.
func templateOf(object *unstructured.Unstructured) string {
	hash, _, _ := unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations", annotationTemplate)
	return hash
}

var errNoDaemonSet = errors.New("the manifests have no DaemonSet that installs agents")

// remover returns the DaemonSet that removes agents from the hosts: the one that installs them,
// with another command and without configuration.
func remover(o Options) (*unstructured.Unstructured, error) {
	found, err := readFolder(o.Manifests, "agent")
	if err != nil {
		return nil, err
	}
	for _, object := range found {
		if object.GetKind() != kindDaemonSet || object.GetName() != agentName {
			continue
		}
		object.SetName(removeName)
		inside, err := containers(object)
		if err != nil || len(inside) == 0 {
			return nil, errors.Join(errNoDaemonSet, err)
		}
		container := inside[0]
		container["name"], container["args"] = "remove", []any{"remove", "--host", "/host"}
		container["volumeMounts"] = []any{map[string]any{"name": "host", "mountPath": "/host"}}
		volumes := []any{map[string]any{"name": "host", "hostPath": map[string]any{"path": "/", "type": "Directory"}}}
		err = errors.Join(
			unstructured.SetNestedSlice(object.Object, volumes, "spec", "template", "spec", "volumes"),
			unstructured.SetNestedField(object.Object, removeName, "spec", "selector", "matchLabels", labelName),
			unstructured.SetNestedField(object.Object, removeName, "spec", "template", "metadata", "labels", labelName),
			unstructured.SetNestedField(object.Object, "100%", "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"),
			fillWorkload(object, o.Agent, nil),
		)
		setLabels(object)
		return object, err
	}
	return nil, errNoDaemonSet
}
