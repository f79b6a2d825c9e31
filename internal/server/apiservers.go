package server

import (
	"context"
	"time"

	"github.com/refit-dev/refit/internal/engine/operations"
)

// The times between two reads of the addresses of the API servers.
const (
	addressesInterval = 30 * time.Second
	addressesRetry    = 2 * time.Second
)

// findAPIServers reads the addresses of the API servers from time to time: the next one is used if
// one does not respond.
func (s *Server) findAPIServers(ctx context.Context) {
	if s.options.Cluster.APIServers == nil {
		return
	}
	reported := false
	for {
		wait := addressesInterval
		switch err := s.mirror.FindAPIServers(ctx); {
		case err == nil:
			reported = false
		case ctx.Err() == nil && operations.Unanswered(err):
			wait = addressesRetry
		case ctx.Err() == nil && !reported:
			s.log.Info("only the API server of the kubeconfig is used", "error", err)
			reported = true
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
