package object

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readyInterval is how often an object is read until it is ready.
const readyInterval = time.Second

// NotReadyError is the error of an object that did not become ready in time.
type NotReadyError struct {
	// Object is the kind, namespace and name.
	Object string
	Kind   string
	// Status and Message are what kstatus computes.
	Status, Message string
	// Pod is the problem of the newest pod of a workload, empty if none is known.
	Pod   string
	Limit time.Duration
}

// Failed reports whether the object is not going to become ready by itself. An unschedulable Pod
// counts as failed for kstatus, but waits for a node.
func (n *NotReadyError) Failed() bool {
	return n.Status == string(status.FailedStatus) && n.Kind != "Pod"
}

func (n *NotReadyError) Error() string {
	return fmt.Sprintf("%s is not ready after %s: %s", n.Object, n.Limit, n.reason())
}

// reason is why the object is not ready. The problem of a pod explains more than the counts of its
// workload.
func (n *NotReadyError) reason() string {
	if n.Pod != "" {
		return n.Pod
	}
	return n.Status + ": " + n.Message
}

// Wait waits until every object of a kind is ready.
func (e *Editor) Wait(ctx context.Context, kind string, limit time.Duration) error {
	return e.each(ctx, kind, func(o *unstructured.Unstructured) error { return e.ready(ctx, o, limit) })
}

// ready waits until an object is ready. A deleted object is not waited for.
func (e *Editor) ready(ctx context.Context, o *unstructured.Unstructured, limit time.Duration) error {
	if e.gaveUp {
		return nil
	}
	err := e.await(ctx, func(ctx context.Context) error { return e.waitReady(ctx, o, limit) })
	if unready, is := errors.AsType[*NotReadyError](err); is && e.Unready != nil {
		e.gaveUp = true
		e.Unready(unready)
		return nil
	}
	return err
}

func (e *Editor) waitReady(ctx context.Context, o *unstructured.Unstructured, limit time.Duration) error {
	if limit == 0 {
		limit = defaultLimit
	}
	if deadline, is := ctx.Deadline(); is && e.Unready != nil { // time for the other objects is left
		limit = min(limit, time.Until(deadline)/2)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last *status.Result
	var failed error
	live := o.DeepCopy()
	err := wait.PollUntilContextCancel(bounded, readyInterval, true, func(ctx context.Context) (bool, error) {
		failed = e.Client.Get(ctx, client.ObjectKeyFromObject(o), live)
		switch {
		case failed == nil:
		case deleted(failed):
			return true, nil
		default:
			return false, nil // the API server may be unavailable for a while
		}
		result, err := status.Compute(live)
		if err != nil {
			return false, err
		}
		last = result
		return result.Status == status.CurrentStatus, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case last == nil:
		return fmt.Errorf("cannot read %s: %w", nameOf(o), errors.Join(failed, err))
	}
	found := &NotReadyError{Object: nameOf(o), Kind: o.GetKind(), Status: string(last.Status), Message: last.Message, Limit: limit}
	found.Pod = e.podProblem(ctx, live)
	return found
}
