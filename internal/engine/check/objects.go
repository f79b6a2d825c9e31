package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The bounds of what a check reads. A page has few objects if they are large, so that its size in
// memory is bounded.
const (
	maxObjects = 10_000
	firstPage  = 10
	maxPage    = 500
	pageBytes  = 4 << 20
)

// unreadable is why a check cannot read its objects, whoever tries.
type unreadable struct{ error }

// each calls a function for each object of a check. It stops at the first error of the function.
func each(ctx context.Context, reader client.Client, of *refitv1alpha1.CheckedObjects, visit func(object map[string]any, bytes int) error) error {
	kind, err := kindOf(reader.RESTMapper(), of)
	if err != nil || kind.Empty() {
		return err
	}
	selector, err := labels.Parse(of.Selector)
	if err != nil {
		return unreadable{fmt.Errorf("objects.selector: %w", err)}
	}
	count, limit := 0, firstPage
	for next := ""; ; {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := reader.List(ctx, &list, client.InNamespace(of.Namespace), client.MatchingLabelsSelector{Selector: selector},
			client.Limit(int64(limit)), client.Continue(next))
		if token, ok := expired(err); ok {
			next = token
			continue
		}
		if err != nil {
			return listError(of.Kind, err)
		}
		size := 0
		for i := range list.Items {
			if count++; count > maxObjects {
				return unreadable{fmt.Errorf("the cluster has more than %d objects of kind %s, which a check can read", maxObjects, of.Kind)}
			}
			object := list.Items[i].Object
			unstructured.RemoveNestedField(object, "metadata", "managedFields")
			bytes := sizeOf(object)
			size += bytes
			if err := visit(object, bytes); err != nil {
				return err
			}
		}
		if next = list.GetContinue(); next == "" {
			return nil
		}
		limit = nextLimit(len(list.Items), size)
	}
}

// kindOf returns the kind with its version, and nothing if the cluster does not have it.
func kindOf(mapper meta.RESTMapper, of *refitv1alpha1.CheckedObjects) (schema.GroupVersionKind, error) {
	name, group, _ := strings.Cut(of.Kind, ".")
	kind := schema.GroupKind{Group: group, Kind: name}
	mapping, err := mapper.RESTMapping(kind, versionsOf(of)...)
	if meta.IsNoMatchError(err) && of.Version != "" {
		if _, other := mapper.RESTMapping(kind); other == nil {
			return schema.GroupVersionKind{}, unreadable{fmt.Errorf("the API server does not serve %s in version %s", of.Kind, of.Version)}
		}
	}
	switch {
	case meta.IsNoMatchError(err):
		return schema.GroupVersionKind{}, nil
	case err != nil:
		return schema.GroupVersionKind{}, fmt.Errorf("cannot find the kind %s: %w", of.Kind, err)
	}
	return mapping.GroupVersionKind, nil
}

func versionsOf(of *refitv1alpha1.CheckedObjects) []string {
	if of.Version == "" {
		return nil
	}
	return []string{of.Version}
}

// listError distinguishes a kind that nobody can list from an API server that does not answer. A
// kind that was removed meanwhile has no objects.
func listError(kind string, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsMethodNotSupported(err):
		return unreadable{fmt.Errorf("objects of kind %s cannot be listed", kind)}
	}
	return fmt.Errorf("cannot list %s: %w", kind, err)
}

// expired returns the token with which a list continues that took longer than etcd keeps old
// revisions. No object that exists all the time is left out.
func expired(err error) (token string, ok bool) {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return "", false
	}
	token = status.Status().Continue
	return token, token != ""
}

// nextLimit returns the size of the next page, from the objects of the last one.
func nextLimit(objects, bytes int) int {
	if objects == 0 || bytes == 0 {
		return firstPage
	}
	return min(max(objects*pageBytes/bytes, 1), maxPage, 4*objects)
}

// sizeOf estimates the size of a value as JSON.
func sizeOf(value any) int {
	size := 2
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			size += len(name) + 4 + sizeOf(field)
		}
	case []any:
		for _, entry := range v {
			size += 1 + sizeOf(entry)
		}
	case string:
		size += len(v)
	default:
		size = 8
	}
	return size
}

// nameOf returns the name of an object, with its namespace.
func nameOf(object map[string]any) string {
	o := unstructured.Unstructured{Object: object}
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
