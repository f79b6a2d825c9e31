package crd

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A page has few objects if they are large, so that its size in memory is bounded. An object has at
// most about 1.5 MiB in etcd.
const (
	firstPage = 10
	maxPage   = 500
	pageBytes = 4 << 20
)

// Objects returns the objects of a CRD in each of these versions. It reads them in pages.
func (a *Actor) Objects(ctx context.Context, live *Definition, versions ...string) Objects {
	return func(yield func(*unstructured.Unstructured, error) bool) {
		for _, version := range versions {
			if !a.objectsOf(ctx, live, version, yield) {
				return
			}
		}
	}
}

// objectsOf yields the objects of one version, and reports whether the consumer wants more.
func (a *Actor) objectsOf(ctx context.Context, live *Definition, version string, yield func(*unstructured.Unstructured, error) bool) bool {
	resource := a.objects.Resource(resourceOf(live, version))
	limit := int64(firstPage)
	for next := ""; ; {
		list, err := resource.List(ctx, metav1.ListOptions{Limit: limit, Continue: next})
		if token, ok := expired(err); ok {
			next = token
			continue
		}
		if err != nil {
			return yield(nil, err) && false
		}
		size := 0
		for i := range list.Items {
			size += sizeOf(list.Items[i].Object)
			if !yield(&list.Items[i], nil) {
				return false
			}
		}
		if next = list.GetContinue(); next == "" {
			return true
		}
		limit = nextLimit(len(list.Items), size)
	}
}

// nextLimit returns the size of the next page, from the objects of the last one.
func nextLimit(objects, bytes int) int64 {
	if objects == 0 || bytes == 0 {
		return firstPage
	}
	return int64(min(max(objects*pageBytes/bytes, 1), maxPage, 4*objects))
}

// expired returns the token with which a list continues that took longer than etcd keeps old
// revisions. From there on it shows newer states of objects, which is harmless: no object that
// exists all the time is left out.
func expired(err error) (token string, ok bool) {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return "", false
	}
	token = status.Status().Continue
	return token, token != ""
}

// sizeOf estimates the size of a value as JSON.
func sizeOf(value any) int {
	switch v := value.(type) {
	case map[string]any:
		size := 2
		for name, field := range v {
			size += len(name) + 4 + sizeOf(field)
		}
		return size
	case []any:
		size := 2
		for _, entry := range v {
			size += 1 + sizeOf(entry)
		}
		return size
	case string:
		return len(v) + 2
	default:
		return 8
	}
}
