package server

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
)

// Publish publishes an event, for tests of the package from outside.
func (s *Server) Publish(kind string, data []byte) { s.ring.Publish(kind, data) }

// Streams is the number of clients that stay.
func (s *Server) Streams() int64 { return s.streams.Load() }

// ReviewEvery sets the time between two reviews of callers who stay, before there are any.
func (s *Server) ReviewEvery(interval time.Duration) { s.reviewInterval = interval }

// HoldDisk lets each save of the state wait until the returned function is called.
func (s *Server) HoldDisk() (release func()) {
	s.saving.Lock()
	return s.saving.Unlock
}

// ConnectionsOfCallers are the connections to the API server for requests of callers.
func ConnectionsOfCallers(config *rest.Config) (http.RoundTripper, error) {
	c, err := newCallers(Options{Cluster: &operations.Cluster{}, Config: config})
	if err != nil {
		return nil, err
	}
	return c.anonymous.Transport, nil
}

// CollectBundleOf collects a support bundle as a server of this version.
func CollectBundleOf(ctx context.Context, version string, config *rest.Config, o engine.Options) (*cliv1alpha1.SupportBundle, error) {
	return collectBundle("test", version, time.Now)(ctx, config, o, func(engine.Progress) {}, io.Discard)
}
