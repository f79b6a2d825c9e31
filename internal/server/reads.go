package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	openapi "github.com/refit-dev/refit/api"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// The limits of a list.
const (
	defaultLimit = 200
	maxLimit     = 1000
)

// GetHealthz answers while the process is alive.
func (s *Server) GetHealthz(context.Context, api.GetHealthzRequestObject) (api.GetHealthzResponseObject, error) {
	return api.GetHealthz200TextResponse("ok\n"), nil
}

// GetReadyz answers as soon as the server does: an outage of the API server is what it is for.
func (s *Server) GetReadyz(context.Context, api.GetReadyzRequestObject) (api.GetReadyzResponseObject, error) {
	out := api.GetReadyz200JSONResponse{Ready: true}
	s.mirror.Read(func(c *operations.Copy) { out.APIReachable = c.API.Reachable() })
	return out, nil
}

// GetOpenapi answers with the description of the API.
func (s *Server) GetOpenapi(context.Context, api.GetOpenapiRequestObject) (api.GetOpenapiResponseObject, error) {
	return api.GetOpenapi200ApplicationYamlResponse{Body: bytes.NewReader(openapi.OpenAPI), ContentLength: int64(len(openapi.OpenAPI))}, nil
}

// read calls a function with the copy. It fails if nothing was read from the cluster yet, in this
// run of the server or an earlier one.
func (s *Server) read(build func(*operations.Copy) error) (err error) {
	s.mirror.Read(func(c *operations.Copy) {
		if err = s.readable(c); err == nil {
			err = build(c)
		}
	})
	return err
}

func (s *Server) readable(c *operations.Copy) error {
	switch {
	case !c.API.CurrentAt.IsZero():
		return nil
	case c.API.UnreachableSince.IsZero():
		return problem.New(http.StatusServiceUnavailable, problem.APIUnreachable, "The server has not read the cluster yet.").After(time.Second)
	}
	return s.unreachable(c)
}

// unreachable is the problem of a request that needs the API server while it is unreachable.
func (s *Server) unreachable(c *operations.Copy) *problem.Error {
	link := s.documents.apiServer(c)
	p := problem.Newf(http.StatusServiceUnavailable, problem.APIUnreachable, "The API server of %s is unreachable: %s.", s.documents.cluster, c.API.Error).
		With("Retry once the API server is reachable; GET /api/v1alpha1/events reports it").After(5 * time.Second)
	p.Since, p.Expected = link.UnreachableSince, link.Outage
	return p
}

// GetState answers with the state. Its ETag does not change with the time alone.
func (s *Server) GetState(_ context.Context, request api.GetStateRequestObject) (api.GetStateResponseObject, error) {
	var state *api.State
	if err := s.read(func(c *operations.Copy) error { state = s.documents.state(c); return nil }); err != nil {
		return nil, err
	}
	etag, err := etagOf(state)
	if err != nil {
		return nil, err
	}
	if matches(request.Params.IfNoneMatch, etag) {
		return api.GetState304Response{}, nil
	}
	return api.GetState200JSONResponse{Body: *state, Headers: api.GetState200ResponseHeaders{ETag: etag}}, nil
}

// etagOf is the ETag of a state: a hash of everything but the times that pass by themselves.
func etagOf(state *api.State) (string, error) {
	content, err := json.Marshal(withoutTime(*state))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`, nil
}

// withoutTime returns a state without what changes although nothing happens.
func withoutTime(state api.State) api.State {
	state.ObservedAt, state.APIServer.AnsweredAt, state.Agent.Status.ObservedAt = time.Time{}, time.Time{}, time.Time{}
	state.APIServer.Outage.ObservedAt, state.APIServer.Outage.Message = time.Time{}, "" // it has durations
	state.Operation.LeftSeconds = 0
	return state
}

func matches(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		if candidate = strings.TrimSpace(candidate); candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// ListReleases lists the ClusterReleases.
func (s *Server) ListReleases(context.Context, api.ListReleasesRequestObject) (api.ListReleasesResponseObject, error) {
	out := api.ListReleases200JSONResponse{Cluster: s.documents.cluster}
	err := s.read(func(c *operations.Copy) error {
		out.Source, out.ObservedAt = observed(c)
		out.Releases = s.documents.releases(c, c.Sorted())
		return nil
	})
	return out, err
}

// ListOperations lists the upgrades, or the one that the caller has started with a key.
func (s *Server) ListOperations(ctx context.Context, r api.ListOperationsRequestObject) (api.ListOperationsResponseObject, error) {
	if r.Params.IdempotencyKey != "" {
		return s.startedWith(ctx, r.Params.IdempotencyKey)
	}
	out := api.ListOperations200JSONResponse{Cluster: s.documents.cluster}
	err := s.read(func(c *operations.Copy) error {
		out.Source, out.ObservedAt = observed(c)
		out.Operations = progress.NewHistory(s.documents.cluster, c.Sorted()).Operations
		return nil
	})
	return out, err
}

// find returns an operation of a copy.
func find(c *operations.Copy, name string) (*refitv1alpha1.ClusterUpgrade, error) {
	if u := c.Operations[name]; u != nil {
		return u, nil
	}
	return nil, noUpgrade(name)
}

func noUpgrade(name string) error {
	return problem.Newf(http.StatusNotFound, problem.NotFound, "There is no upgrade %s.", name).With("GET /api/v1alpha1/operations lists the upgrades")
}

// GetOperation answers with the progress of an upgrade, once it has ended if the client waits for
// that.
func (s *Server) GetOperation(ctx context.Context, request api.GetOperationRequestObject) (api.GetOperationResponseObject, error) {
	wait, err := waitOf(request.Params)
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		leave, err := s.enter()
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	expired, review := time.After(wait), time.NewTicker(s.reviewInterval)
	defer review.Stop()
	for {
		_, more, _ := s.ring.After(s.ring.Last()) // before the read, so that no change is missed
		var out api.GetOperation200JSONResponse
		err := s.read(func(c *operations.Copy) error {
			u, err := find(c, request.Name)
			if err != nil {
				return err
			}
			out.Headers.ETag, out.Body = specETag(u), s.documents.answer(c, u)
			return nil
		})
		if err != nil || wait == 0 || out.Body.Operation.Ended {
			return out, err
		}
		select {
		case <-more:
		case <-review.C:
			if err := s.mayContinue(ctx); err != nil {
				return nil, err
			}
		case <-expired:
			wait = 0
		case <-s.ending:
			wait = 0
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// The bounds of a wait for the end of an upgrade.
const (
	defaultWait = 10 * time.Minute
	maxWait     = time.Hour
)

func waitOf(p api.GetOperationParams) (time.Duration, error) {
	switch {
	case p.Wait == "":
		return 0, nil
	case !p.Wait.Valid():
		return 0, invalid("#/wait", "must be ended")
	case p.Timeout == "":
		return defaultWait, nil
	}
	wait, err := time.ParseDuration(p.Timeout)
	if err != nil || wait <= 0 || wait > maxWait {
		return 0, invalid("#/timeout", fmt.Sprintf("must be a duration such as 90s, at most %s", maxWait))
	}
	return wait, nil
}

// invalid is the problem of an invalid parameter.
func invalid(pointer, detail string) error {
	return problem.New(http.StatusBadRequest, problem.BadRequest, "A parameter of the request is invalid.").At(pointer, detail)
}

// GetNode explains the state of a node.
func (s *Server) GetNode(_ context.Context, request api.GetNodeRequestObject) (api.GetNodeResponseObject, error) {
	var out api.GetNode200JSONResponse
	err := s.read(func(c *operations.Copy) error {
		if _, found := c.Nodes[request.Name]; !found {
			return problem.Newf(http.StatusNotFound, problem.NotFound, "There is no node %s.", request.Name)
		}
		out.Source, out.ObservedAt = observed(c)
		out.Explanation = *progress.NewExplanation(s.documents.cluster, s.documents.command, known(c, request.Name, operations.ActiveOrLast(c.Sorted())))
		return nil
	})
	return out, err
}
