package server

import (
	"context"
	"net/http"

	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
)

// notImplemented is the problem of a route that is described, but does not exist yet.
func notImplemented() error {
	return problem.New(http.StatusNotImplemented, problem.NotImplemented, "The server does not have this route yet.")
}

// CreateCheck is not implemented yet.
func (s *Server) CreateCheck(context.Context, api.CreateCheckRequestObject) (api.CreateCheckResponseObject, error) {
	return nil, notImplemented()
}

// GetCheck is not implemented yet.
func (s *Server) GetCheck(context.Context, api.GetCheckRequestObject) (api.GetCheckResponseObject, error) {
	return nil, notImplemented()
}

// GetCheckManifest is not implemented yet.
func (s *Server) GetCheckManifest(context.Context, api.GetCheckManifestRequestObject) (api.GetCheckManifestResponseObject, error) {
	return nil, notImplemented()
}

// StartOperation is not implemented yet.
func (s *Server) StartOperation(context.Context, api.StartOperationRequestObject) (api.StartOperationResponseObject, error) {
	return nil, notImplemented()
}

// ChangeOperation is not implemented yet.
func (s *Server) ChangeOperation(context.Context, api.ChangeOperationRequestObject) (api.ChangeOperationResponseObject, error) {
	return nil, notImplemented()
}

// PutRelease is not implemented yet.
func (s *Server) PutRelease(context.Context, api.PutReleaseRequestObject) (api.PutReleaseResponseObject, error) {
	return nil, notImplemented()
}
