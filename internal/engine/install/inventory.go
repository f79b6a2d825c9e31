package install

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inventoryName is the ConfigMap in which an install writes down what it brought, so that a later one knows what is no longer wanted.
const inventoryName = "refit-install"

var inventoryRef = Ref{APIVersion: "v1", Resource: "configmaps", Namespace: SystemNamespace, Name: inventoryName, Kind: kindConfigMap}

// Inventory is what an install left behind.
type Inventory struct {
	Version string // of Refit
	Agent   string // the image that agents are placed from
	Objects []Ref
	// Cleared is that a removal has been to all hosts, and was cut off after that.
	Cleared bool
}

// object is the inventory as it is kept.
func (i Inventory) object() *unstructured.Unstructured {
	lines := make([]string, 0, len(i.Objects))
	for _, r := range i.Objects {
		lines = append(lines, strings.Join([]string{r.APIVersion, r.Resource, r.Namespace + "/" + r.Name}, " "))
	}
	slices.Sort(lines)
	data := map[string]any{"version": i.Version, "agent": i.Agent, "objects": strings.Join(lines, "\n") + "\n"}
	if i.Cleared {
		data["cleared"] = "true"
	}
	out := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kindConfigMap,
		"metadata": map[string]any{"name": inventoryName, "namespace": SystemNamespace},
		"data":     data,
	}}
	mark(out)
	return out
}

// readInventory reads what object wrote. Who can change it can name any object; that is why only objects with our mark are ever removed.
func readInventory(object *unstructured.Unstructured) (Inventory, error) {
	data, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil {
		return Inventory{}, fmt.Errorf("reading the inventory: %w", err)
	}
	out := Inventory{Version: data["version"], Agent: data["agent"], Cleared: data["cleared"] == "true"}
	for line := range strings.Lines(data["objects"]) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return Inventory{}, fmt.Errorf("reading the inventory: %q names no object", strings.TrimSpace(line))
		}
		if _, err := schema.ParseGroupVersion(words[0]); err != nil {
			return Inventory{}, fmt.Errorf("reading the inventory: %w", err)
		}
		namespace, name, ok := strings.Cut(words[2], "/")
		if !ok || name == "" {
			return Inventory{}, fmt.Errorf("reading the inventory: %q names no object", strings.TrimSpace(line))
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

// with adds objects that it does not have.
func (i Inventory) with(refs []Ref) Inventory {
	i.Objects = slices.Clone(i.Objects)
	for _, ref := range refs {
		if !slices.ContainsFunc(i.Objects, ref.same) {
			i.Objects = append(i.Objects, ref)
		}
	}
	return i
}

// unwanted are those of an inventory that are no longer among what is installed. Definitions and namespaces stay whatever an inventory says: what is in them
// would go with them. Only Remove takes those away.
func (i Inventory) unwanted(installed []Ref) []Ref {
	var out []Ref
	for _, ref := range i.Objects {
		keeps := ref.Resource == "customresourcedefinitions" || ref.Resource == "namespaces"
		if !keeps && !slices.ContainsFunc(installed, ref.same) {
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
