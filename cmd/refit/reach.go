package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// reachWithin is how long an API server may take for its first answer. A client's own patience is minutes, which nobody wants to wait for to
// learn that the VPN is down.
const reachWithin = 10 * time.Second

// reach asks the API server for its version, which tells at once whether it can be reached, and if not, why.
func reach(ctx context.Context, config *rest.Config) (version string, err error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	info, err := client.ServerVersionWithContext(ctx)
	switch {
	case err == nil:
		return info.GitVersion, nil
	case apierrors.IsForbidden(err):
		return "", nil // it is there; what may be read is seen when it is read
	case apierrors.IsUnauthorized(err):
		return "", fmt.Errorf("the API server %s does not accept your credentials: log in again, or choose another --context", config.Host)
	case errors.Is(err, context.DeadlineExceeded):
		return "", timeoutError{fmt.Errorf("the API server %s did not answer within %s: is it up, and is it the right --context?", config.Host, reachWithin)}
	}
	cause := err
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		cause = wrapped.Err // without the request, which nobody typed
	}
	return "", fmt.Errorf("the API server %s cannot be reached: %w. Is it up, and is it the right --context?", config.Host, cause)
}
