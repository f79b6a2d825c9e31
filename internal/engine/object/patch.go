package object

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Values returns the value of a field in every object of a kind. They are saved before a patch, so
// that it can be undone.
func (e *Editor) Values(ctx context.Context, kind, path string) (map[types.UID]any, error) {
	values := map[types.UID]any{}
	err := e.each(ctx, kind, func(o *unstructured.Unstructured) error {
		value, err := get(o.Object, path)
		if err != nil {
			return fmt.Errorf("cannot read %s of %s: %w", path, nameOf(o), err)
		}
		values[o.GetUID()] = value
		return nil
	})
	return values, err
}

// Patch sets a field in every object of a kind. The field must exist.
func (e *Editor) Patch(ctx context.Context, objects refitv1alpha1.RecipeObjects, path string, value any) error {
	return e.set(ctx, objects, path, func(types.UID, any) (any, bool) { return value, true })
}

// Unpatch sets a field to its saved values where it still has the value of the patch. Objects that
// were created later keep theirs, and so do those that somebody else has changed since.
func (e *Editor) Unpatch(ctx context.Context, objects refitv1alpha1.RecipeObjects, path string, written any, saved map[types.UID]any) error {
	return e.set(ctx, objects, path, func(uid types.UID, current any) (any, bool) {
		value, known := saved[uid]
		return value, known && reflect.DeepEqual(current, written)
	})
}

func (e *Editor) set(ctx context.Context, objects refitv1alpha1.RecipeObjects, path string, valueOf func(uid types.UID, current any) (any, bool)) error {
	return e.change(ctx, objects, func(o *unstructured.Unstructured) (map[string]any, error) {
		current, err := get(o.Object, path)
		value, sets := valueOf(o.GetUID(), current)
		if !sets || err == nil && reflect.DeepEqual(current, value) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return mergePatch(o, path, value)
	})
}

// mergePatch returns the patch that sets a field. A list is replaced as a whole, and only if the
// object is still the one that was read.
func mergePatch(o *unstructured.Unstructured, path string, value any) (map[string]any, error) {
	copied := o.DeepCopy()
	if err := put(copied.Object, path, value); err != nil {
		return nil, err
	}
	top := fields(path)[0]
	return map[string]any{"metadata": map[string]any{"resourceVersion": o.GetResourceVersion()}, top: copied.Object[top]}, nil
}

var errNoField = errors.New("the field does not exist")

// fields splits a JSON pointer.
func fields(path string) []string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts
}

func get(from any, path string) (any, error) {
	for _, field := range fields(path) {
		next, err := below(from, field)
		if err != nil {
			return nil, err
		}
		from = next
	}
	return from, nil
}

func below(from any, field string) (any, error) {
	switch at := from.(type) {
	case map[string]any:
		if value, ok := at[field]; ok {
			return value, nil
		}
	case []any:
		if i, err := strconv.Atoi(field); err == nil && i >= 0 && i < len(at) {
			return at[i], nil
		}
	}
	return nil, errNoField
}

func put(into map[string]any, path string, value any) error {
	parts := fields(path)
	var at any = into
	for _, field := range parts[:len(parts)-1] {
		next, err := below(at, field)
		if err != nil {
			return err
		}
		at = next
	}
	last := parts[len(parts)-1]
	if _, err := below(at, last); err != nil {
		return err
	}
	switch at := at.(type) {
	case map[string]any:
		at[last] = value
	case []any:
		i, err := strconv.Atoi(last)
		if err != nil {
			return err
		}
		at[i] = value
	}
	return nil
}
