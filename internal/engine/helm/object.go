package helm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// A Ref identifies an object of a release. Its namespace is empty for objects in the namespace of
// the release and for objects without a namespace; its version does not matter.
type Ref struct {
	Group, Kind     string
	Namespace, Name string
}

// String returns Kind.group/name, or Kind.group/namespace/name.
func (r Ref) String() string {
	text := schema.GroupKind{Group: r.Group, Kind: r.Kind}.String() + "/"
	if r.Namespace != "" {
		text += r.Namespace + "/"
	}
	return text + r.Name
}

func (r Ref) isCRD() bool {
	return r.Group == "apiextensions.k8s.io" && r.Kind == "CustomResourceDefinition"
}

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// An Object is a rendered object.
type Object struct {
	Ref
	Source  string // path of its template
	Content *unstructured.Unstructured
}

// objectsOf reads a rendered file or a stored manifest, in its order.
func objectsOf(text, source, namespace string) ([]Object, error) {
	documents := releaseutil.SplitManifests(text)
	keys := slices.Collect(maps.Keys(documents))
	slices.SortFunc(keys, func(a, b string) int {
		if releaseutil.BySplitManifestsOrder([]string{a, b}).Less(0, 1) {
			return -1
		}
		return 1
	})
	var objects []Object
	for _, key := range keys {
		found, err := objectsOfDocument(documents[key], source, namespace)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

func objectsOfDocument(document, source, namespace string) ([]Object, error) {
	if source == "" {
		source = sourceOf(document)
	}
	object, err := decode(document)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", source, err)
	}
	if len(object.Object) == 0 {
		return nil, nil
	}
	if !object.IsList() {
		return one(object, source, namespace)
	}
	items, err := itemsOf(object)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", source, err)
	}
	var objects []Object
	for i := range items {
		found, err := one(&items[i], source, namespace)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// decode reads a document. Integers stay integers: as floats, large ones would change.
func decode(document string) (*unstructured.Unstructured, error) {
	text, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &object.Object); err != nil {
		return nil, err
	}
	return object, nil
}

// itemsOf returns the objects of a list. They are hooks if the list is one, and have its kind if
// they have none.
func itemsOf(object *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	list, err := object.ToList()
	if err != nil {
		return nil, err
	}
	hook := map[string]string{}
	for key, value := range object.GetAnnotations() {
		if strings.HasPrefix(key, release.HookAnnotation) {
			hook[key] = value
		}
	}
	kind, ofKind := strings.CutSuffix(list.GetKind(), "List")
	for i := range list.Items {
		if len(hook) > 0 {
			annotate(&list.Items[i], hook)
		}
		if ofKind && kind != "" && list.Items[i].GetKind() == "" {
			list.Items[i].SetAPIVersion(list.GetAPIVersion())
			list.Items[i].SetKind(kind)
		}
	}
	return list.Items, nil
}

func one(content *unstructured.Unstructured, source, namespace string) ([]Object, error) {
	gvk := content.GroupVersionKind()
	if gvk.Kind == "" || gvk.Version == "" || content.GetName() == "" {
		return nil, fmt.Errorf("cannot read %s: %w", source, errors.New("an object has no apiVersion, kind or name"))
	}
	ref := Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: content.GetNamespace(), Name: content.GetName()}
	if ref.Namespace == namespace {
		ref.Namespace = ""
	}
	return []Object{{Ref: ref, Source: source, Content: content}}, nil
}

// sourceOf returns the path that Helm writes before each document of a manifest.
func sourceOf(document string) string {
	for line := range strings.Lines(document) {
		if path, ok := strings.CutPrefix(line, "# Source: "); ok {
			return strings.TrimSpace(path)
		}
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" && strings.TrimSpace(line) != "---" {
			break
		}
	}
	return "manifest.yaml"
}

// withoutCRDs returns the objects that Helm may own, and the CRDs.
func withoutCRDs(objects []Object) (others, crds []Object) {
	for _, object := range objects {
		if object.isCRD() {
			crds = append(crds, object)
		} else {
			others = append(others, object)
		}
	}
	return others, crds
}

func refsOf(objects []Object) map[Ref]bool {
	refs := make(map[Ref]bool, len(objects))
	for _, object := range objects {
		refs[object.Ref] = true
	}
	return refs
}
