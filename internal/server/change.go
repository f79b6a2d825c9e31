package server

import (
	"context"
	"errors"
	"net/http"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

// ChangeOperation changes the waivers, the pools or the rollback of the upgrade that the caller has
// read.
func (s *Server) ChangeOperation(ctx context.Context, r api.ChangeOperationRequestObject) (api.ChangeOperationResponseObject, error) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	cluster, o, err := s.current(ctx, r.Name, "change")
	if err != nil {
		return nil, err
	}
	read := func(u *refitv1alpha1.ClusterUpgrade) error {
		if !matches(r.Params.IfMatch, specETag(u)) {
			return problem.Newf(http.StatusPreconditionFailed, problem.PreconditionFailed, "%s was changed after it was read.", u.Name).
				With("Read the upgrade again, and repeat the change with its ETag")
		}
		return nil
	}
	if err := read(o.ClusterUpgrade); err != nil {
		return nil, err
	}
	decision, err := verbs.Amend(o, verbs.Amendment{Waivers: r.Body.Waivers, Pools: r.Body.Pools, Rollback: r.Body.Rollback})
	if rejected, is := errors.AsType[verbs.InvalidError](err); is {
		return nil, invalidSpec("#", rejected.Err)
	}
	if err != nil {
		return nil, refusal(err)
	}
	out := *verbs.NewChange(s.documents.cluster, o.Name, "change", decision)
	changed := o.ClusterUpgrade
	if out.Changed {
		if changed, err = cluster.ChangeIf(ctx, o.Name, read, decision.Change); err != nil {
			return nil, inBody(err)
		}
	}
	return api.ChangeOperation200JSONResponse{Body: out, Headers: api.ChangeOperation200ResponseHeaders{ETag: specETag(changed)}}, nil
}
