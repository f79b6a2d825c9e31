package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// lister gets one page of a list.
type lister[L metav1.ListInterface] func(context.Context, metav1.ListOptions) (L, error)

// pages reads a list page by page and drops each page before it requests the next.
//
// A list expires if it takes longer than the server keeps old versions, by default five minutes.
// The server then returns a token to continue with the newest state: no object is listed twice, and
// changed objects are listed as they are now, which is sufficient for a Snapshot.
func pages[L metav1.ListInterface](ctx context.Context, q apiRequest, options metav1.ListOptions, list lister[L], each func(L) error) error {
	for expired := false; ; {
		page, err := list(ctx, options)
		if next, ok := offer(err); ok && !expired {
			options.Continue, expired = next, true
			continue
		}
		if err != nil {
			return requestFailed(q, err)
		}
		expired = false
		if err := each(page); err != nil {
			return err
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// offer returns the token to continue an expired list.
func offer(err error) (string, bool) {
	if !apierrors.IsResourceExpired(err) {
		return "", false
	}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return "", false
	}
	next := answer.Status().Continue
	return next, next != ""
}

// rawPage is a page of objects of which only the fields of T are decoded: the schemas of CRDs may
// have megabytes.
type rawPage[T any] struct {
	metav1.ListMeta `json:"metadata"`

	Items []T `json:"items"`
}

const onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// rawLister lists the objects at a path, as JSON or as the media type accept.
func rawLister[T any](client rest.Interface, path, accept string) lister[*rawPage[T]] {
	if accept == "" {
		accept = runtime.ContentTypeJSON
	}
	return func(ctx context.Context, options metav1.ListOptions) (*rawPage[T], error) {
		request := client.Get().AbsPath(path).SetHeader("Accept", accept).Param("limit", strconv.FormatInt(options.Limit, 10))
		for name, value := range map[string]string{
			"continue": options.Continue, "labelSelector": options.LabelSelector, "fieldSelector": options.FieldSelector,
		} {
			if value != "" {
				request = request.Param(name, value)
			}
		}
		page := &rawPage[T]{}
		return page, getJSON(ctx, request, page)
	}
}

// getJSON decodes the response to a request.
func getJSON(ctx context.Context, request *rest.Request, into any) error {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return err
	}
	body, err := result.Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("cannot decode the response: %w", err)
	}
	return nil
}
