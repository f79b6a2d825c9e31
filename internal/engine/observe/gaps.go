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

// question is what was asked of the API, in the words of RBAC, so that a refusal can name the right that is missing.
type question struct{ verb, resource, where string }

func (q question) String() string { return q.verb + " " + q.resource + q.where }

// listAll asks for all objects of a namespaced kind, list for all of a cluster-wide one.
func listAll(resource string) question { return question{"list", resource, " in all namespaces"} }

func list(resource string) question { return question{"list", resource, ""} }

func listIn(resource, namespace string) question {
	return question{"list", resource, " in namespace " + namespace}
}

func getIn(resource, namespace, name string) question {
	return question{"get", resource + " " + name, " in namespace " + namespace}
}

// askError is that a question had no useful answer.
type askError struct {
	question
	err error
}

func (e *askError) Error() string { return e.String() + ": " + e.err.Error() }

func (e *askError) Unwrap() error { return e.err }

func asked(q question, err error) error {
	if err == nil {
		return nil
	}
	return &askError{q, err}
}

// gapOf tells why something could not be read. Which kind it is decides whether it may block: what is out of reach from a laptop may well be
// readable from within the cluster.
func gapOf(part cluster.Part, object string, err error) cluster.Gap {
	gap := cluster.Gap{Part: part, Object: object, Kind: cluster.GapFailed, Message: err.Error()}
	what := "read this"
	if ask, ok := errors.AsType[*askError](err); ok {
		what = ask.String()
	}
	switch {
	case errors.Is(err, errNotInstalled):
		gap.Kind = cluster.GapAbsent
	case apierrors.IsForbidden(err):
		gap.Kind, gap.Message = cluster.GapForbidden, fmt.Sprintf("you may not %s: %s", what, serverSays(err))
	case apierrors.IsUnauthorized(err):
		gap.Kind = cluster.GapForbidden
		gap.Message = fmt.Sprintf("the server did not accept your credentials when asked to %s: %s", what, serverSays(err))
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		gap.Kind, gap.Message = cluster.GapAbsent, fmt.Sprintf("there is nothing to %s: %s", what, serverSays(err))
	case outOfReach(err):
		gap.Kind = cluster.GapUnreachable
	}
	return gap
}

// outOfReach says whether nobody answered, rather than that somebody answered with an error.
func outOfReach(err error) bool {
	if answered := apierrors.APIStatus(nil); errors.As(err, &answered) {
		return false
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return true
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, context.DeadlineExceeded)
}

// serverSays is the server's own message, without our words around it.
func serverSays(err error) string {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}
