package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/request"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

// writeLimit is the maximum duration of a write. It is never repeated by the server.
const writeLimit = 15 * time.Second

// PauseOperation pauses an upgrade.
func (s *Server) PauseOperation(ctx context.Context, r api.PauseOperationRequestObject) (api.PauseOperationResponseObject, error) {
	out, err := s.change(ctx, r.Name, "pause", verbs.Pause)
	return api.PauseOperation200JSONResponse(out), err
}

// ResumeOperation resumes an upgrade.
func (s *Server) ResumeOperation(ctx context.Context, r api.ResumeOperationRequestObject) (api.ResumeOperationResponseObject, error) {
	out, err := s.change(ctx, r.Name, "resume", verbs.Resume)
	return api.ResumeOperation200JSONResponse(out), err
}

// RetryOperation retries what failed.
func (s *Server) RetryOperation(ctx context.Context, r api.RetryOperationRequestObject) (api.RetryOperationResponseObject, error) {
	out, err := s.change(ctx, r.Name, "retry", verbs.Retry)
	return api.RetryOperation200JSONResponse(out), err
}

// AbortOperation aborts an upgrade.
func (s *Server) AbortOperation(ctx context.Context, r api.AbortOperationRequestObject) (api.AbortOperationResponseObject, error) {
	out, err := s.change(ctx, r.Name, "abort", verbs.Abort)
	return api.AbortOperation200JSONResponse(out), err
}

// ApproveOperation approves the plan with a hash, and no other.
func (s *Server) ApproveOperation(ctx context.Context, r api.ApproveOperationRequestObject) (api.ApproveOperationResponseObject, error) {
	if r.Body == nil || !request.IsPlanHash(r.Body.Plan) {
		return nil, problem.New(http.StatusBadRequest, problem.BadRequest, "The hash of the plan is missing or invalid.").
			At("#/plan", "must be sha256: and 64 hexadecimal digits")
	}
	callerOf(ctx).detail = r.Body.Plan
	out, err := s.change(ctx, r.Name, "approve", func(o verbs.Operation) (verbs.Decision, error) {
		if p := o.Status.Plan; p != nil && r.Body.Plan != p.ProposedHash && (p.ProposedHash != "" || r.Body.Plan != p.Hash) {
			return verbs.Decision{}, problem.Newf(http.StatusConflict, problem.PlanChanged, "The plan of %s is not the given one.", o.Name).
				With("Review the plan again, and approve it by its hash")
		}
		return verbs.Approve(o, r.Body.Plan)
	})
	return api.ApproveOperation200JSONResponse(out), err
}

// change changes an operation with the credentials of the caller.
func (s *Server) change(ctx context.Context, name, verb string, decide func(verbs.Operation) (verbs.Decision, error)) (cliv1alpha1.Change, error) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	cluster, o, err := s.current(ctx, name, verb)
	if err != nil {
		return cliv1alpha1.Change{}, err
	}
	decision, err := decide(o)
	if err != nil {
		return cliv1alpha1.Change{}, refusal(err)
	}
	out := *verbs.NewChange(s.documents.cluster, o.Name, verb, decision)
	if !out.Changed {
		return out, nil
	}
	return out, cluster.Change(ctx, o.Name, decision.Exact, decision.Change)
}

// current returns an operation in progress as the API server has it now, and the cluster with the
// credentials of the caller. A write does not decide on the copy.
func (s *Server) current(ctx context.Context, name, verb string) (*operations.Cluster, verbs.Operation, error) {
	cluster, err := s.callers.of(callerOf(ctx).Principal)
	if err != nil {
		return nil, verbs.Operation{}, err
	}
	if request.ValidateName(name) != nil { // a client of Kubernetes would fail
		return nil, verbs.Operation{}, noUpgrade(name)
	}
	u := &refitv1alpha1.ClusterUpgrade{}
	if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, u); err != nil {
		return nil, verbs.Operation{}, err
	}
	if err := verbs.Unfinished(u, verb); err != nil {
		return nil, verbs.Operation{}, problem.Newf(http.StatusConflict, problem.Ended, "%s.", err)
	}
	progress, err := cluster.Progress(ctx, u)
	return cluster, verbs.Operation{ClusterUpgrade: u, Progress: progress, Command: s.documents.command}, err
}

// refusal is the problem of a verb that the state of an operation does not permit.
func refusal(err error) error {
	if is, ok := errors.AsType[*problem.Error](err); ok {
		return is
	}
	return problem.Newf(http.StatusConflict, problem.Conflict, "%s.", err)
}
