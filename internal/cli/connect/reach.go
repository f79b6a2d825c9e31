package connect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/exit"
)

// reachTimeout is how long an API server may take for its first response. The client's own timeout
// is minutes, too long to learn that the VPN is down.
const reachTimeout = 10 * time.Second

// Reach reads the version of the API server, which shows whether it is reachable and, if not, why.
func Reach(ctx context.Context, config *rest.Config) (version string, err error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	info, err := client.ServerVersionWithContext(ctx)
	switch {
	case err == nil:
		return info.GitVersion, nil
	case apierrors.IsForbidden(err):
		return "", nil // it is reachable; missing permissions show when the cluster is read
	case apierrors.IsUnauthorized(err):
		return "", fmt.Errorf("the API server %s rejects your credentials. Log in again, or choose another --context", config.Host)
	case errors.Is(err, context.DeadlineExceeded):
		return "", exit.TimeoutError{Err: fmt.Errorf("the API server %s did not respond within %s. Check that it runs and that --context is right",
			config.Host, reachTimeout)}
	}
	cause := err
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		cause = wrapped.Err // without the request, which the user did not type
	}
	return "", fmt.Errorf("cannot reach the API server %s: %w. Check that it runs and that --context is right", config.Host, cause)
}
