package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// callers makes clients with the credentials of callers. They share connections.
type callers struct {
	cluster   *operations.Cluster
	own       *rest.Config // with the credentials of the server
	anonymous *rest.Config
	// complete is own with its credentials apart from its transport, for checks.
	complete *rest.Config
}

func newCallers(options Options) (*callers, error) {
	if err := setPings(); err != nil {
		return nil, fmt.Errorf("cannot configure connections to the API server: %w", err)
	}
	config := rest.AnonymousClientConfig(options.Config)
	if servers := options.Cluster.APIServers; servers != nil {
		if err := servers.Connect(config); err != nil {
			return nil, err
		}
	}
	out := &callers{cluster: options.Cluster, complete: options.Config}
	var err error
	if out.anonymous, err = shared(config); err != nil {
		return nil, err
	}
	out.own, err = shared(options.Config)
	return out, err
}

// shared returns a configuration whose clients share the connections of one transport. client-go
// would open others for each client, because it cannot compare functions that dial.
func shared(config *rest.Config) (*rest.Config, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the API server: %w", err)
	}
	return &rest.Config{Host: config.Host, APIPath: config.APIPath, UserAgent: "refit-serve", Transport: transport}, nil
}

// of returns the cluster with the credentials of a caller.
func (c *callers) of(p access.Principal) (*operations.Cluster, error) {
	if p.Own {
		return c.cluster, nil
	}
	objects, err := operations.NewClient(c.config(p))
	if err != nil {
		return nil, err
	}
	own := *c.cluster
	own.Client = objects
	return &own, nil
}

// config returns a client configuration with the credentials of a caller.
func (c *callers) config(p access.Principal) *rest.Config {
	if p.Own {
		return c.own
	}
	config := rest.CopyConfig(c.anonymous)
	config.BearerToken = p.Token
	return config
}

// ofCheck returns the client configuration of a check. It queries API servers at their own
// addresses with the credentials of the server, but not with those of others.
func (c *callers) ofCheck(p access.Principal) *rest.Config {
	if p.Own {
		return c.complete
	}
	return c.config(p)
}

// isOfAPIServer reports whether an error is that of a request to the API server.
func isOfAPIServer(err error) bool {
	if _, is := errors.AsType[*url.Error](err); is {
		return true
	}
	if _, is := errors.AsType[net.Error](err); is {
		return true
	}
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status)
}

// fromAPIServer turns a refusal of the API server into a problem. Other errors stay.
func fromAPIServer(err error) error {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return err
	}
	detail := status.Status().Message
	switch {
	case apierrors.IsForbidden(err):
		return problem.New(http.StatusForbidden, problem.Forbidden, detail).With("Ask an administrator for a role of Refit with this permission")
	case apierrors.IsUnauthorized(err):
		return access.ErrUnauthenticated
	case apierrors.IsNotFound(err):
		return problem.New(http.StatusNotFound, problem.NotFound, detail)
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return problem.New(http.StatusConflict, problem.Conflict, detail).With("Read the object again, then retry")
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		p := problem.New(http.StatusUnprocessableEntity, problem.Invalid, detail)
		if details := status.Status().Details; details != nil {
			for _, cause := range details.Causes {
				p = p.At(request.Pointer("#", cause.Field), cause.Message)
			}
		}
		return p
	}
	return err
}

// inBody is the problem of a refused change whose body has the fields of the spec.
func inBody(err error) error {
	p, is := errors.AsType[*problem.Error](fromAPIServer(err))
	if !is {
		return err
	}
	for i := range p.Errors {
		p.Errors[i].Pointer = "#" + strings.TrimPrefix(strings.TrimPrefix(p.Errors[i].Pointer, "#"), "/spec")
	}
	return p
}
