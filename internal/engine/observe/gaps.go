package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// apiRequest is a request in terms of RBAC, so that an error can name the missing permission.
type apiRequest struct{ verb, resource, where string }

func (q apiRequest) String() string { return q.verb + " " + q.resource + q.where }

// listAll lists a namespaced resource, list a cluster-scoped one.
func listAll(resource string) apiRequest { return apiRequest{"list", resource, " in all namespaces"} }

func list(resource string) apiRequest { return apiRequest{"list", resource, ""} }

func listIn(resource, namespace string) apiRequest {
	return apiRequest{"list", resource, " in namespace " + namespace}
}

func getIn(resource, namespace, name string) apiRequest {
	return apiRequest{"get", resource + " " + name, " in namespace " + namespace}
}

// apiRequestError is the error of a request.
type apiRequestError struct {
	apiRequest
	err error
}

func (e *apiRequestError) Error() string { return e.String() + ": " + e.err.Error() }

func (e *apiRequestError) Unwrap() error { return e.err }

func requestFailed(q apiRequest, err error) error {
	if err == nil {
		return nil
	}
	return &apiRequestError{q, err}
}

// gapOf returns the Gap of an error. Its kind decides whether it may block: an address that is
// unreachable from a laptop may be reachable within the cluster.
func gapOf(part cluster.Part, object string, err error) cluster.Gap {
	gap := cluster.Gap{Part: part, Object: object, Kind: cluster.GapFailed, Message: err.Error()}
	what := "read"
	if request, ok := errors.AsType[*apiRequestError](err); ok {
		what = request.String()
	}
	switch {
	case errors.Is(err, errNotInstalled):
		gap.Kind = cluster.GapAbsent
	case apierrors.IsForbidden(err):
		gap.Kind, gap.Message = cluster.GapForbidden, fmt.Sprintf("no permission to %s: %s", what, serverMessage(err))
	case apierrors.IsUnauthorized(err):
		gap.Kind = cluster.GapForbidden
		gap.Message = fmt.Sprintf("the server rejected the credentials to %s: %s", what, serverMessage(err))
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		gap.Kind, gap.Message = cluster.GapAbsent, fmt.Sprintf("cannot %s: %s", what, serverMessage(err))
	case unreachable(err):
		gap.Kind = cluster.GapUnreachable
	}
	return gap
}

// unreachable reports whether there was no response, unlike a response with an error.
func unreachable(err error) bool {
	if responded := apierrors.APIStatus(nil); errors.As(err, &responded) {
		return false
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return true
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, context.DeadlineExceeded)
}

// serverMessage returns the message of the server, without the wrapping of clients.
func serverMessage(err error) string {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}
