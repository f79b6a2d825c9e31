package requests

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

const (
	// metadataOnly keeps responses small. The API server still reads, decrypts, decodes and
	// converts every object.
	metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	pageSize     = 500
	// parallel lists keep the API server busy without raising its memory.
	parallel = 4
	// maxMessage bounds the message of a failed request.
	maxMessage = 2 * refitv1alpha1.MaxMessage
)

// listAll lists every resource and adds the results to the report.
func (a *APIServer) listAll(ctx context.Context, resources []rehearsal.Resource, report *rehearsal.Report) {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, resource := range resources {
		group.Go(func() error {
			objects, err := a.list(ctx, resource)
			mu.Lock()
			defer mu.Unlock()
			report.Objects += objects
			if err == nil {
				report.Listed++
			} else {
				report.AddFailure(rehearsal.FailedRequest{Resource: resource, Message: refitv1alpha1.Clip(err.Error(), maxMessage)})
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	slices.SortFunc(report.Failures, func(x, y rehearsal.FailedRequest) int { return cmp.Compare(x.Resource.String(), y.Resource.String()) })
}

func (a *APIServer) list(ctx context.Context, resource rehearsal.Resource) (objects int64, err error) {
	err = pages(ctx, a, resource.Path(), metadataOnly, pageSize, func(items []struct{}) { objects += int64(len(items)) })
	return objects, err
}

// gone reports whether the token of a page expired.
func gone(err error) bool {
	answer, ok := errors.AsType[*statusError](err)
	return ok && answer.status == http.StatusGone
}

func itoa(n int) string { return strconv.Itoa(n) }
