package install

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inventoryName is the ConfigMap that lists the installed objects, so that a later install can
// delete those that are obsolete.
const inventoryName = "refit-install"

var inventoryRef = Ref{APIVersion: "v1", Resource: "configmaps", Namespace: SystemNamespace, Name: inventoryName, Kind: kindConfigMap}

// Inventory lists the objects of an install.
type Inventory struct {
	Version string // of Refit
	Agent   string // the image that installs agents
	// Chosen: the user named Agent for a removal that was interrupted, because hosts cannot pull
	// the image of the cluster.
	Chosen  bool
	Objects []Ref
	// Cleared is set by a removal that was interrupted after it removed the agents from all hosts.
	Cleared bool
}

// object returns the ConfigMap of the inventory.
func (i Inventory) object() *unstructured.Unstructured {
	lines := make([]string, 0, len(i.Objects))
	for _, r := range i.Objects {
		lines = append(lines, strings.Join([]string{r.APIVersion, r.Resource, r.Namespace + "/" + r.Name}, " "))
	}
	slices.Sort(lines)
	data := map[string]any{"version": i.Version, "agent": i.Agent, "objects": strings.Join(lines, "\n") + "\n"}
	if i.Chosen {
		data["chosen"] = "true"
	}
	if i.Cleared {
		data["cleared"] = "true"
	}
	out := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kindConfigMap,
		"metadata": map[string]any{"name": inventoryName, "namespace": SystemNamespace},
		"data":     data,
	}}
	setLabels(out)
	return out
}

// readInventory parses the ConfigMap that object returns. A user who can edit it can list any
// object, so Refit deletes only objects that also have its label.
func readInventory(object *unstructured.Unstructured) (Inventory, error) {
	data, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil {
		return Inventory{}, fmt.Errorf("cannot parse the inventory: %w", err)
	}
	out := Inventory{Version: data["version"], Agent: data["agent"], Chosen: data["chosen"] == "true", Cleared: data["cleared"] == "true"}
	for line := range strings.Lines(data["objects"]) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return Inventory{}, fmt.Errorf("cannot parse the inventory: %q does not name an object", strings.TrimSpace(line))
		}
		if _, err := schema.ParseGroupVersion(words[0]); err != nil {
			return Inventory{}, fmt.Errorf("cannot parse the inventory: %w", err)
		}
		namespace, name, ok := strings.Cut(words[2], "/")
		if !ok || name == "" {
			return Inventory{}, fmt.Errorf("cannot parse the inventory: %q does not name an object", strings.TrimSpace(line))
		}
		ref := Ref{APIVersion: words[0], Resource: words[1], Namespace: namespace, Name: name}
		for _, k := range kinds {
			if k.apiVersion == ref.APIVersion && k.resource == ref.Resource {
				ref.Kind = k.kind
			}
		}
		out.Objects = append(out.Objects, ref)
	}
	return out, nil
}

// with returns the inventory with more objects.
func (i Inventory) with(refs []Ref) Inventory {
	i.Objects = slices.Clone(i.Objects)
	for _, ref := range refs {
		if !slices.ContainsFunc(i.Objects, ref.same) {
			i.Objects = append(i.Objects, ref)
		}
	}
	return i
}

// obsolete returns the objects that are no longer installed, except CRDs and namespaces: their
// content would be deleted with them. Only Remove deletes those.
func (i Inventory) obsolete(installed []Ref) []Ref {
	var out []Ref
	for _, ref := range i.Objects {
		keep := ref.Resource == "customresourcedefinitions" || ref.Resource == "namespaces"
		if !keep && !slices.ContainsFunc(installed, ref.same) {
			out = append(out, ref)
		}
	}
	return out
}

func refsOf(objects []*unstructured.Unstructured) ([]Ref, error) {
	out := make([]Ref, 0, len(objects))
	for _, object := range objects {
		ref, err := refOf(object)
		if err != nil {
			return nil, err
		}
		out = append(out, ref)
	}
	return out, nil
}
