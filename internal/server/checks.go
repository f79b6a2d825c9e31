package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/checks"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/preview"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

const (
	// mostPreferred is the longest wait that a client may prefer.
	mostPreferred = 5 * time.Minute
	// busyRetry is when a check may start that others have prevented.
	busyRetry = 10 * time.Second
)

// Observe takes the Snapshot of a cluster with the credentials of a client configuration, and
// reports the part that it is reading.
type Observe func(ctx context.Context, config *rest.Config, part func(string)) (*cluster.Snapshot, error)

// observeCluster returns the Observe of a server. Its own connections may be to another API server
// than the one that a check queries at its address.
func observeCluster(own Options) Observe {
	return func(ctx context.Context, config *rest.Config, part func(string)) (*cluster.Snapshot, error) {
		reader, err := observe.New(config, observeOptions(own, config, part))
		if err != nil {
			return nil, err
		}
		return reader.Snapshot(ctx, "")
	}
}

// observeOptions are those for a configuration, which has the credentials of the server or of a
// caller: nobody else may use those of the server.
func observeOptions(own Options, config *rest.Config, part func(string)) observe.Options {
	out := observe.Options{Progress: part}
	if servers := own.Cluster.APIServers; servers != nil && config == own.Config {
		out.Direct = servers.Plain()
	}
	return out
}

// CreateCheck starts a check with the credentials of the caller.
func (s *Server) CreateCheck(ctx context.Context, r api.CreateCheckRequestObject) (api.CreateCheckResponseObject, error) {
	spec, err := validSpec(r.Body, "#")
	if err != nil {
		return nil, err
	}
	c := callerOf(ctx)
	c.detail = request.DefaultName(spec.Target)
	own, err := s.callers.of(c.Principal)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	if err := own.Installed(limited); err != nil {
		return nil, err
	}
	started, err := s.checks.Start(ownerOf(c.Principal), spec, s.check(c.Principal, spec))
	if err != nil {
		return nil, asProblem(err)
	}
	if started, err = s.waitForCheck(ctx, started, r.Params.Prefer); err != nil {
		return nil, err
	}
	location := "/api/v1alpha1/checks/" + started.ID
	switch {
	case !started.Complete():
		return api.CreateCheck202JSONResponse{Body: s.checkDocument(started), Headers: api.CreateCheck202ResponseHeaders{Location: location}}, nil
	case started.Err != nil:
		return nil, s.checkProblem(started.Err)
	}
	return api.CreateCheck200JSONResponse{Body: s.checkDocument(started), Headers: api.CreateCheck200ResponseHeaders{Location: location}}, nil
}

// GetCheck answers with a check of the caller.
func (s *Server) GetCheck(ctx context.Context, r api.GetCheckRequestObject) (api.GetCheckResponseObject, error) {
	found, err := s.findCheck(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if found, err = s.waitForCheck(ctx, found, r.Params.Prefer); err != nil {
		return nil, err
	}
	return api.GetCheck200JSONResponse(s.checkDocument(found)), nil
}

// GetCheckManifest answers with the ClusterUpgrade of a check.
func (s *Server) GetCheckManifest(ctx context.Context, r api.GetCheckManifestRequestObject) (api.GetCheckManifestResponseObject, error) {
	found, err := s.findCheck(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	content, err := yaml.Marshal(request.NewManifest(&refitv1alpha1.ClusterUpgrade{Spec: found.Spec}))
	return api.GetCheckManifest200ApplicationYamlResponse{Body: bytes.NewReader(content), ContentLength: int64(len(content))}, err
}

func (s *Server) findCheck(ctx context.Context, id string) (checks.Check, error) {
	found, ok := s.checks.Get(ownerOf(callerOf(ctx).Principal), id)
	if !ok {
		return found, problem.Newf(http.StatusNotFound, problem.NotFound, "You have no check %q, or the server does not keep it any more.", id).
			With("Check the upgrade again: POST /api/v1alpha1/checks")
	}
	return found, nil
}

// ownerOf identifies a caller over several sessions and tokens.
func ownerOf(p access.Principal) string { return p.User.Name + "\x00" + p.User.UID }

// waitForCheck waits as long as the client prefers.
func (s *Server) waitForCheck(ctx context.Context, c checks.Check, prefer string) (checks.Check, error) {
	wait := preferred(prefer)
	if wait == 0 || c.Complete() {
		return c, nil
	}
	leave, err := s.enter()
	if err != nil {
		return c, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	latest, found := s.checks.Wait(ctx, ownerOf(callerOf(ctx).Principal), c.ID)
	if !found {
		return c, nil
	}
	return latest, nil
}

// preferred is the wait of the header Prefer, as RFC 7240 defines it. Preferences that the
// server does not know are ignored.
func preferred(header string) time.Duration {
	for preference := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(preference, "=")
		if seconds, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && strings.EqualFold(strings.TrimSpace(name), "wait") && seconds > 0 {
			return min(time.Duration(min(seconds, int(mostPreferred/time.Second)))*time.Second, mostPreferred)
		}
	}
	return 0
}

// check returns a check that reads the cluster with the credentials of a caller.
func (s *Server) check(p access.Principal, spec refitv1alpha1.ClusterUpgradeSpec) checks.Run {
	return func(ctx context.Context, part func(string)) (*cliv1alpha1.Report, error) {
		snapshot, err := s.observe(ctx, s.callers.ofCheck(p), part)
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot read %s: %w", s.documents.cluster, err)
		case len(snapshot.Nodes) == 0:
			return nil, fmt.Errorf("%s has no nodes: there is nothing to upgrade", s.documents.cluster)
		}
		return preview.Report(preview.Request{
			Cluster: s.documents.cluster, Snapshot: snapshot, Spec: spec, At: s.options.Cluster.Now(), Purpose: assess.ForStart,
		})
	}
}

// checkDocument describes a check.
func (s *Server) checkDocument(c checks.Check) api.Check {
	out := api.Check{ID: c.ID, State: api.Running, Spec: c.Spec, StartTime: c.Start.UTC(), ExpireTime: c.Expire.UTC(), Part: c.Part}
	if !c.Complete() {
		return out
	}
	out.State, out.CompletionTime = api.Complete, c.Completion.UTC()
	if c.Err != nil {
		p := s.checkProblem(c.Err)
		out.State, out.Error = api.Failed, api.CheckError{Status: p.Status, Code: p.Code, Detail: p.Detail, Remedy: p.Remedy, Errors: p.Errors}
		return out
	}
	out.Report, out.UpToDate = *c.Report, c.Report.Done()
	return out
}

// checkProblem is the problem of a check that could not be completed.
func (s *Server) checkProblem(err error) *problem.Error {
	if unfit, is := errors.AsType[preview.UnfitError](err); is {
		return problem.New(http.StatusUnprocessableEntity, problem.Invalid, "The upgrade does not fit the cluster.").
			At(request.Pointer("#", unfit.Field), sentence(unfit.Err))
	}
	if errors.Is(err, checks.ErrTimeout) {
		return problem.Newf(http.StatusGatewayTimeout, problem.CheckTimeout, "%s.", sentence(err)).
			With("Retry once the API server is less busy, or run `refit check` with a longer --timeout")
	}
	if panicked, is := errors.AsType[*checks.PanicError](err); is {
		s.log.Error("a check panicked", "cause", panicked.Cause, "stack", panicked.Stack)
		return problem.New(http.StatusBadGateway, problem.CheckFailed, "The check failed because of a fault in Refit.").
			With("Report the fault with the log of the server")
	}
	if p := s.problemOf(err); p.Code != problem.Internal {
		return p
	}
	s.log.Warn("a check failed", "error", err)
	return problem.Newf(http.StatusBadGateway, problem.CheckFailed, "%s.", sentence(err)).With("Check the log of the server, then retry")
}

// asProblem is the problem of a check that did not start.
func asProblem(err error) error {
	if errors.Is(err, checks.ErrBusy) {
		return problem.New(http.StatusTooManyRequests, problem.TooManyChecks, "Too many checks are running.").
			With("Retry once they are complete").After(busyRetry)
	}
	return err
}

// validSpec returns the spec of a body, or the problem of its first invalid field. The root is the
// pointer to the spec in the body.
func validSpec(body *refitv1alpha1.ClusterUpgradeSpec, root string) (refitv1alpha1.ClusterUpgradeSpec, error) {
	spec := *body.DeepCopy()
	if err := request.Validate(&spec); err != nil {
		return spec, invalidSpec(root, err)
	}
	switch {
	case spec.ApprovedPlan != "":
		return spec, invalidField(root+"/approvedPlan", "is set by the plan that starts")
	case spec.Paused, spec.Aborted, spec.Retry != 0, len(spec.AbandonedNodes) > 0:
		return spec, invalidField(root, "paused, aborted, retry and abandonedNodes are for upgrades that exist")
	}
	return spec, nil
}

// invalidSpec is the problem of an error of request.Validate.
func invalidSpec(root string, err error) error {
	path, detail := request.Field(err)
	return invalidField(request.Pointer(root, path), detail)
}

// invalidField is the problem of a field of the body that the API server would not accept.
func invalidField(pointer, detail string) error {
	return problem.New(http.StatusUnprocessableEntity, problem.Invalid, "The body of the request is invalid.").At(cmp.Or(pointer, "#"), detail)
}

// sentence is an error on one line, which begins with a capital letter.
func sentence(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	return strings.ToUpper(text[:1]) + text[1:]
}
