package object

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// page is how many objects one request lists.
const page = 500

// kindOf returns the version of a kind that the API server prefers. The text is KIND.GROUP.
func (e *Editor) kindOf(text string) (schema.GroupVersionKind, error) {
	kind, group, _ := strings.Cut(text, ".")
	mapping, err := e.Client.RESTMapper().RESTMapping(schema.GroupKind{Group: group, Kind: kind})
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("cannot find the kind %s: %w", text, err)
	}
	return mapping.GroupVersionKind, nil
}

// each calls a function for each object of a kind, in the order of namespaces and names. A kind
// that the cluster does not have has no objects.
func (e *Editor) each(ctx context.Context, kind string, visit func(*unstructured.Unstructured) error) error {
	gvk, err := e.kindOf(kind)
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var all []unstructured.Unstructured // first: a visit may take longer than a page can be continued
	for next := ""; ; {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := e.Client.List(ctx, &list, client.Limit(page), client.Continue(next)); err != nil {
			return fmt.Errorf("cannot list %s: %w", kind, err)
		}
		all = append(all, list.Items...)
		if next = list.GetContinue(); next == "" {
			break
		}
	}
	for i := range all {
		if err := visit(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// nameOf describes an object in errors.
func nameOf(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

// deleted reports whether an error means that somebody deleted the object. There is nothing left to
// change then.
func deleted(err error) bool { return apierrors.IsNotFound(err) }
