package configpatch

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// mapVersions are the versions of the ClusterConfiguration in which extraArgs are a map.
var mapVersions = []any{"kubeadm.k8s.io/v1beta1", "kubeadm.k8s.io/v1beta2", "kubeadm.k8s.io/v1beta3"}

// ExternalEtcd reports whether a ClusterConfiguration has external etcd.
func ExternalEtcd(document map[string]any) bool {
	_, external, _ := unstructured.NestedMap(document, "etcd", "external")
	return external
}

// Read returns the fields of a ClusterConfiguration that a patch could set.
func Read(document map[string]any) (Values, error) {
	out := Values{}
	for _, s := range sections {
		entries, err := s.read(document)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s of the ClusterConfiguration: %w", s, err)
		}
		for _, e := range entries {
			out[s.Field(e.name)] = append(out[s.Field(e.name)], e.value)
		}
	}
	return out, nil
}

// Write returns a ClusterConfiguration with these changes. The order of arguments stays.
func Write(document map[string]any, changes []Change) (map[string]any, error) {
	out := runtime.DeepCopyJSON(document)
	for _, change := range changes {
		s, name := change.Field.Split()
		if err := s.set(out, name, change.To); err != nil {
			return nil, fmt.Errorf("cannot set %s in the ClusterConfiguration: %w", change.Field, err)
		}
	}
	return out, nil
}

// entry is one value of a section.
type entry struct{ name, value string }

func (s Section) read(document map[string]any) ([]entry, error) {
	found, _, err := unstructured.NestedFieldNoCopy(document, s.path()...)
	if err != nil {
		return nil, err
	}
	var out []entry
	switch at := found.(type) {
	case nil:
	case map[string]any:
		for name, value := range at {
			text, err := textOf(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out = append(out, entry{name, text})
		}
	case []any:
		for i, item := range at {
			fields, _ := item.(map[string]any)
			name, named := fields["name"].(string)
			text, err := textOf(fields["value"])
			if err != nil || !named {
				return nil, fmt.Errorf("item %d is not a name and a value", i)
			}
			out = append(out, entry{name, text})
		}
	default:
		return nil, fmt.Errorf("it is a %T", found)
	}
	return out, nil
}

// textOf returns the text of a value. A value without text is the empty text, as for kubeadm.
func textOf(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", fmt.Errorf("the value is a %T", value)
}

func (s Section) set(document map[string]any, name string, values []string) error {
	found, _, err := unstructured.NestedFieldNoCopy(document, s.path()...)
	if err != nil {
		return err
	}
	var next any
	list, isList := found.([]any)
	if isList || found == nil && s != FeatureGates && !slices.Contains(mapVersions, document["apiVersion"]) {
		next = inList(list, name, values)
	} else if next, err = s.inMap(found, name, values); err != nil {
		return err
	}
	if next == nil {
		unstructured.RemoveNestedField(document, s.path()...)
		return nil
	}
	return setNested(document, next, s.path())
}

// inList replaces the items of a name at the place of the first one, and returns nil instead of an
// empty list.
func inList(list []any, name string, values []string) any {
	var items []any
	for _, value := range values {
		items = append(items, map[string]any{"name": name, "value": value})
	}
	named := func(item any) bool {
		fields, _ := item.(map[string]any)
		return fields["name"] == name
	}
	at := slices.IndexFunc(list, named)
	if at < 0 {
		at = len(list)
	}
	rest := slices.DeleteFunc(slices.Clone(list), named)
	if rest = slices.Insert(rest, at, items...); len(rest) == 0 {
		return nil
	}
	return rest
}

// inMap returns nil instead of an empty map.
func (s Section) inMap(found any, name string, values []string) (any, error) {
	entries, _ := found.(map[string]any)
	if entries == nil {
		entries = map[string]any{}
	}
	switch {
	case len(values) == 0:
		delete(entries, name)
	case len(values) > 1:
		return nil, fmt.Errorf("it has %d values, which need the version v1beta4 of the ClusterConfiguration", len(values))
	case s == FeatureGates:
		on, err := strconv.ParseBool(values[0])
		if err != nil {
			return nil, err
		}
		entries[name] = on
	default:
		entries[name] = values[0]
	}
	if len(entries) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to write
	}
	return entries, nil
}

// setNested sets a value, also below a field that is null.
func setNested(document map[string]any, value any, path []string) error {
	for i := range path[:len(path)-1] {
		if at, there, err := unstructured.NestedFieldNoCopy(document, path[:i+1]...); err == nil && there && at == nil {
			unstructured.RemoveNestedField(document, path[:i+1]...)
		}
	}
	return unstructured.SetNestedField(document, value, path...)
}
