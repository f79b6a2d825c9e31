package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/checks"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/progress"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

const (
	// startLimit is the maximum duration of a start, with its check.
	startLimit = 6 * time.Minute
	// maxKey is the maximum length of an Idempotency-Key.
	maxKey = 128
)

// starting is a start that a caller requests.
type starting struct {
	cluster *operations.Cluster // with the credentials of the caller
	caller  *caller
	spec    refitv1alpha1.ClusterUpgradeSpec
	plan    string
	once    operations.Once
	// existing are the operations of the cluster.
	existing []refitv1alpha1.ClusterUpgrade
}

// StartOperation starts an upgrade with the plan that the caller has reviewed, once for each key.
func (s *Server) StartOperation(ctx context.Context, r api.StartOperationRequestObject) (api.StartOperationResponseObject, error) {
	start, err := s.newStart(callerOf(ctx), r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	unlock, err := s.starts.lock(ctx, start.once.Key) // so that only the first one checks the cluster
	if err != nil {
		return nil, asProblem(checks.ErrBusy)
	}
	defer unlock()
	if start.existing, err = start.cluster.List(ctx); err != nil {
		return nil, err
	}
	found, err := start.once.Permits(start.existing, start.spec)
	if err != nil {
		return nil, startProblem(err)
	}
	if found != nil {
		return s.startedBefore(ctx, start, found)
	}
	note, err := s.expectControllers(ctx, start.cluster)
	if err != nil {
		return nil, err
	}
	if err := s.checkAgain(ctx, start); err != nil {
		return nil, err
	}
	u, created, err := start.cluster.StartOnce(ctx, start.spec, start.plan, start.once)
	if err != nil {
		return nil, startProblem(err)
	}
	if !created {
		return s.startedBefore(ctx, start, u)
	}
	start.caller.object, start.caller.detail = u.Name, start.plan
	out := s.started(ctx, start, u)
	if note != "" {
		out.Notes = append(out.Notes, note)
	}
	return api.StartOperation201JSONResponse{Body: out, Headers: api.StartOperation201ResponseHeaders{ETag: specETag(u), Location: operationPath(u)}}, nil
}

// newStart validates a request.
func (s *Server) newStart(c *caller, r api.StartOperationRequestObject) (*starting, error) {
	key := r.Params.IdempotencyKey
	if key == "" || len(key) > maxKey {
		return nil, problem.Newf(http.StatusBadRequest, problem.BadRequest, "The header Idempotency-Key needs 1 to %d characters.", maxKey).
			With("Set it to a text that identifies this start, such as a UUID or the id of a pipeline run")
	}
	spec, err := validSpec(&r.Body.Spec, "#/spec")
	if err != nil {
		return nil, err
	}
	if !request.IsPlanHash(r.Body.Plan) {
		return nil, invalidField("#/plan", "must be sha256: and 64 hexadecimal digits, as in the plan of a check")
	}
	own, err := s.callers.of(c.Principal)
	if err != nil {
		return nil, err
	}
	start := &starting{cluster: own, caller: c, spec: spec, plan: r.Body.Plan}
	start.once.Key = startKey(c.Principal, key)
	start.once.Request, err = requestHash(spec, r.Body.Plan)
	return start, err
}

// startKey identifies the start of a caller.
func startKey(p access.Principal, key string) string { return hashOf(ownerOf(p), key) }

func requestHash(spec refitv1alpha1.ClusterUpgradeSpec, plan string) (string, error) {
	content, err := json.Marshal(spec)
	return hashOf(string(content), plan), err
}

// hashOf is a hash of several texts. No text is a part of another one's neighbor.
func hashOf(texts ...string) string {
	hash := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(hash, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// expectControllers returns an error if nothing would execute the upgrade, or a note if that is
// unknown.
func (s *Server) expectControllers(ctx context.Context, c *operations.Cluster) (note string, err error) {
	found, err := c.Controllers(ctx)
	switch {
	case err != nil:
		return "", err
	case found.Unknown():
		return "Cannot determine whether there are controllers: " + found.Unreadable, nil
	case found.Ready, found.Leader != "":
		return "", nil
	}
	return "", problem.Newf(http.StatusConflict, problem.NoControllers, "No controllers of Refit are ready in %s.", s.documents.cluster).
		With(fmt.Sprintf("Run `%s install`, or check the pods in the namespace %s", s.documents.command, c.Controller.Namespace))
}

// checkAgain checks the upgrade again. It returns a problem unless it may start with the plan that
// the caller has reviewed.
func (s *Server) checkAgain(ctx context.Context, start *starting) error {
	owner := ownerOf(start.caller.Principal)
	c, err := s.checks.StartWhenFree(ctx, owner, start.spec, s.check(start.caller.Principal, start.spec))
	if err != nil {
		return asProblem(err)
	}
	c, found := s.checks.Wait(ctx, owner, c.ID)
	switch {
	case !found || !c.Complete():
		return asProblem(checks.ErrBusy)
	case c.Err != nil:
		return s.checkProblem(c.Err)
	case c.Report.Done():
		return problem.Newf(http.StatusConflict, problem.UpToDate, "Everything in %s is at its target version already.", s.documents.cluster)
	}
	var p *problem.Error
	switch {
	case c.Report.Plan.Hash != start.plan:
		p = problem.New(http.StatusConflict, problem.PlanChanged, "The cluster has changed, and the plan with it.").
			With("Review the plan in this answer, and start the upgrade with its hash")
	case c.Report.Blocked:
		p = problem.New(http.StatusConflict, problem.Blocked, "Preflight findings block the upgrade.").
			With("Fix or waive the findings that block, and check the upgrade again")
	default:
		return nil
	}
	p.Check = s.checkDocument(c)
	return p
}

// startProblem is the problem of a start that another operation prevents.
func startProblem(err error) error {
	if active, is := errors.AsType[operations.InProgressError](err); is {
		p := problem.Newf(http.StatusConflict, problem.OperationActive, "%s.", sentence(active)).
			With("Follow it: GET /api/v1alpha1/operations/" + active.Operation)
		p.Operation = active.Operation
		return p
	}
	if errors.Is(err, operations.ErrKeyReused) {
		return problem.Newf(http.StatusUnprocessableEntity, problem.KeyReused, "%s.", sentence(err)).
			With("Use a new Idempotency-Key for each start, and the same one only to repeat a request")
	}
	return err
}

// startedWith lists the upgrade that the caller has started with a key. The API server answers: the
// copy may not have it yet.
func (s *Server) startedWith(ctx context.Context, key string) (api.ListOperationsResponseObject, error) {
	if len(key) > maxKey {
		return nil, invalid("#/idempotencyKey", fmt.Sprintf("must have at most %d characters", maxKey))
	}
	if err := s.writable(); err != nil {
		return nil, err
	}
	c := callerOf(ctx)
	own, err := s.callers.of(c.Principal)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	out := api.ListOperations200JSONResponse{Cluster: s.documents.cluster, Source: api.API, ObservedAt: s.options.Cluster.Now().UTC()}
	all, err := own.List(ctx)
	if err != nil {
		return nil, err
	}
	wanted := startKey(c.Principal, key)
	out.Operations = progress.NewHistory(s.documents.cluster, slices.DeleteFunc(all, func(u refitv1alpha1.ClusterUpgrade) bool {
		return !operations.StartedWith(&u, wanted)
	})).Operations
	return out, nil
}

func (s *Server) startedBefore(ctx context.Context, start *starting, u *refitv1alpha1.ClusterUpgrade) (api.StartOperationResponseObject, error) {
	start.caller.object, start.caller.detail = u.Name, start.plan+" exists"
	out := s.started(ctx, start, u)
	return api.StartOperation200JSONResponse{Body: out, Headers: api.StartOperation200ResponseHeaders{ETag: specETag(u), Location: operationPath(u)}}, nil
}

// started describes an operation that was started with a key.
func (s *Server) started(ctx context.Context, start *starting, u *refitv1alpha1.ClusterUpgrade) api.StartedOperation {
	shown, err := start.cluster.Progress(ctx, u)
	if err != nil {
		// The upgrade has started: an answer with its name is better than a failure.
		shown = progress.NewOperation(s.documents.cluster, u, nil, s.options.Cluster.Now())
	}
	out := api.StartedOperation{
		Name: u.Name, Plan: start.plan, Approved: u.Spec.ApprovedPlan != "" || u.Spec.Approval == refitv1alpha1.ApprovalNone,
		WaitsFor: olderThan(start.existing, u), Notes: []string{}, Operation: *shown,
	}
	if !out.Approved {
		out.Notes = append(out.Notes, fmt.Sprintf("You do not have permission to approve plans: %s waits for `%s approve %s --plan %s` by another user.",
			u.Name, s.documents.command, u.Name, start.plan))
	}
	return out
}

// olderThan returns the operations that end before another one starts.
func olderThan(existing []refitv1alpha1.ClusterUpgrade, u *refitv1alpha1.ClusterUpgrade) []string {
	out := []string{}
	if u.HasEnded() {
		return out
	}
	for _, name := range request.Unfinished(existing) {
		if name == u.Name {
			break // the oldest is the first
		}
		out = append(out, name)
	}
	return out
}

func operationPath(u *refitv1alpha1.ClusterUpgrade) string {
	return "/api/v1alpha1/operations/" + u.Name
}

// keyLocks admit one request at a time for each key.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed once the lock is free
}

// lock waits for the lock of a key until the context ends.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		l.mu.Lock()
		free, held := l.held[key]
		if !held {
			free = make(chan struct{})
			l.held[key] = free
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.held, key)
				close(free)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
