package object

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// failedFor is how long the objects that are not ready must have failed before nothing is expected
// of them any more: a controller may not have seen the last change yet.
const failedFor = 10 * time.Second

// WaitAll waits until every object of a list exists and is ready, and reports what it waits for.
// Objects without a namespace are in the given one if their kind has namespaces. It ends early if
// only objects that have failed are left, such as a Job, or a Deployment after its progress
// deadline. The caller bounds it with the context.
func (e *Editor) WaitAll(ctx context.Context, objects []*unstructured.Unstructured, namespace string, waiting func(string)) error {
	started := time.Now()
	pending := objects
	var last *NotReadyError
	var failedSince time.Time
	err := wait.PollUntilContextCancel(ctx, readyInterval, true, func(ctx context.Context) (bool, error) {
		unready, found, failed, err := e.unready(ctx, pending, namespace)
		if err != nil {
			return false, err
		}
		if ctx.Err() != nil && last != nil { // what could not be read is no reason
			return false, ctx.Err()
		}
		pending = unready
		if len(pending) == 0 {
			return true, nil
		}
		last = found
		switch {
		case !failed:
			failedSince = time.Time{}
		case failedSince.IsZero():
			failedSince = time.Now()
		case time.Since(failedSince) >= failedFor:
			last.Limit = time.Since(started).Round(time.Second)
			return false, last
		}
		waiting(fmt.Sprintf("%d of %d objects not ready, such as %s (%s)", len(pending), len(objects), last.Object, last.reason()))
		return false, nil
	})
	if err != nil && last != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		last.Limit = time.Since(started).Round(time.Second)
		return last
	}
	return err
}

// unready returns the objects that are not ready, the state of the first one, and whether all of
// them have failed. An object whose pods have a known problem is the first one.
func (e *Editor) unready(
	ctx context.Context, objects []*unstructured.Unstructured, namespace string,
) (pending []*unstructured.Unstructured, first *NotReadyError, failed bool, err error) {
	failed = true
	read := 0
	for _, o := range objects {
		found, live, err := e.state(ctx, o, namespace)
		if err != nil {
			return nil, nil, false, err
		}
		if found == nil {
			continue
		}
		pending = append(pending, o)
		if (first == nil || first.Pod == "") && read < workloadsRead && PodsOf(live) != nil {
			read++
			found.Pod = e.podProblem(ctx, live)
		}
		if first == nil || first.Pod == "" && found.Pod != "" {
			first = found
		}
		failed = failed && found.Failed()
	}
	return pending, first, failed, nil
}

// state returns why an object is not ready, or nil, and the object.
func (e *Editor) state(ctx context.Context, o *unstructured.Unstructured, namespace string) (*NotReadyError, *unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	key := client.ObjectKeyFromObject(o)
	namespaced, err := e.Client.IsObjectNamespaced(live)
	switch {
	case err == nil && namespaced && key.Namespace == "":
		key.Namespace = namespace
	case err != nil && !meta.IsNoMatchError(err):
		return &NotReadyError{Object: nameOf(o), Status: "Unknown", Message: err.Error()}, live, nil
	}
	if err == nil {
		err = e.Client.Get(ctx, key, live)
	}
	switch {
	case deleted(err) && deletesItself(o):
		return nil, live, nil
	case meta.IsNoMatchError(err) || deleted(err):
		return &NotReadyError{Object: nameOf(o), Status: "NotFound", Message: "it does not exist"}, live, nil
	case err != nil: // the API server may be unavailable for a while
		return &NotReadyError{Object: nameOf(o), Status: "Unknown", Message: err.Error()}, live, nil
	}
	result, err := status.Compute(live)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot compute the status of %s: %w", nameOf(live), err)
	}
	if result.Status == status.CurrentStatus {
		return nil, nil, nil
	}
	return &NotReadyError{Object: nameOf(live), Kind: live.GetKind(), Status: string(result.Status), Message: result.Message}, live, nil
}

// deletesItself reports whether an object is a Job that is deleted once it has ended: one that is
// missing has run.
func deletesItself(o *unstructured.Unstructured) bool {
	if o.GroupVersionKind().GroupKind() != batchv1.SchemeGroupVersion.WithKind("Job").GroupKind() {
		return false
	}
	_, found, err := unstructured.NestedFieldNoCopy(o.Object, "spec", "ttlSecondsAfterFinished")
	return err == nil && found
}
