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

// pages gets a list page by page, and lets go of each before it asks for the next.
//
// A list that takes longer than the server keeps old versions (five minutes by default) expires halfway. The server then offers to go on from the
// same place with the newest state: no object is seen twice, and what changed meanwhile is seen as it is now. For a Snapshot that is as good.
func pages[L metav1.ListInterface](ctx context.Context, q question, options metav1.ListOptions, list lister[L], each func(L) error) error {
	for expired := false; ; {
		page, err := list(ctx, options)
		if next, ok := offer(err); ok && !expired {
			options.Continue, expired = next, true
			continue
		}
		if err != nil {
			return asked(q, err)
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

// offer is where the server offers to go on with a list that expired.
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

// rawPage is a page of objects of which only what T names is decoded. Custom resource definitions bring schemas of megabytes that nobody wants to keep.
type rawPage[T any] struct {
	metav1.ListMeta `json:"metadata"`

	Items []T `json:"items"`
}

const onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// rawLister lists the objects at a path, as JSON or in the form that accept names.
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

// getJSON decodes the answer to a request.
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
		return fmt.Errorf("decoding the answer: %w", err)
	}
	return nil
}
