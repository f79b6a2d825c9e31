package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/bundles"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/request"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

const (
	// bundleRetry is when a bundle may start that another one has prevented.
	bundleRetry = 30 * time.Second
	// sweepInterval is the time between two deletions of expired bundles.
	sweepInterval = time.Minute
	// The rates of the client that collects a bundle: it polls several Pods.
	bundleQPS, bundleBurst = 50, 100
)

// CollectBundle writes a support bundle with the credentials of a client configuration.
type CollectBundle func(
	ctx context.Context, config *rest.Config, o engine.Options, report func(engine.Progress), to io.Writer,
) (*cliv1alpha1.SupportBundle, error)

// collectBundle returns a CollectBundle of a cluster.
func collectBundle(cluster, version string, now func() time.Time) CollectBundle {
	return func(ctx context.Context, config *rest.Config, o engine.Options, report func(engine.Progress), to io.Writer) (*cliv1alpha1.SupportBundle, error) {
		config = rest.CopyConfig(config)
		config.QPS, config.Burst = bundleQPS, bundleBurst
		typed, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("cannot connect to the API server: %w", err)
		}
		objects, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("cannot connect to the API server: %w", err)
		}
		collector := &engine.Collector{Typed: typed, Dynamic: objects, Cluster: cluster, Version: version, Now: now}
		return collector.Collect(ctx, o, report, to)
	}
}

// CreateSupportBundle starts to collect a bundle with the credentials of the caller.
func (s *Server) CreateSupportBundle(ctx context.Context, r api.CreateSupportBundleRequestObject) (api.CreateSupportBundleResponseObject, error) {
	options, err := bundleOptions(r.Body)
	if err != nil {
		return nil, err
	}
	c := callerOf(ctx)
	c.detail = r.Body.Operation
	config := s.callers.config(c.Principal)
	collect := func(ctx context.Context, report func(bundles.Progress), to io.Writer) (*cliv1alpha1.SupportBundle, error) {
		return s.collect(ctx, config, options, func(p engine.Progress) {
			report(bundles.Progress{Activity: p.String(), Part: p.Part})
		}, to)
	}
	started, err := s.bundles.Start(ownerOf(c.Principal), collect)
	if err != nil {
		return nil, s.bundleProblem(err)
	}
	c.object = started.ID
	return api.CreateSupportBundle202JSONResponse{
		Body: s.bundleDocument(started), Headers: api.CreateSupportBundle202ResponseHeaders{Location: "/api/v1alpha1/support-bundles/" + started.ID},
	}, nil
}

// bundleOptions returns the options of a request, or the problem of its first invalid field.
func bundleOptions(body *api.SupportBundleRequest) (engine.Options, error) {
	o := engine.Options{Operation: body.Operation, Nodes: body.Nodes, Limits: supportbundle.DefaultLimits()}
	o.Limits.Total = bundles.MaxBytes
	if o.Operation != "" && request.ValidateName(o.Operation) != nil {
		return o, invalidField("#/operation", "is not the name of an upgrade")
	}
	if len(o.Nodes) > o.Limits.Hosts {
		return o, invalidField("#/nodes", fmt.Sprintf("has more than %d nodes", o.Limits.Hosts))
	}
	if len(body.Redact) > maxPatterns {
		return o, invalidField("#/redact", fmt.Sprintf("has more than %d expressions", maxPatterns))
	}
	for i, text := range body.Redact {
		pointer := "#/redact/" + strconv.Itoa(i)
		if text == "" || len(text) > maxPattern {
			return o, invalidField(pointer, fmt.Sprintf("must have 1 to %d bytes", maxPattern))
		}
		pattern, err := regexp.Compile(text)
		if err != nil {
			return o, invalidField(pointer, err.Error())
		}
		o.Patterns = append(o.Patterns, pattern)
	}
	return o, nil
}

// The bounds of the expressions in a request.
const (
	maxPatterns = 16
	maxPattern  = 256
)

// GetSupportBundle answers with the progress of a bundle of the caller.
func (s *Server) GetSupportBundle(ctx context.Context, r api.GetSupportBundleRequestObject) (api.GetSupportBundleResponseObject, error) {
	found, err := s.findBundle(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetSupportBundle200JSONResponse(s.bundleDocument(found)), nil
}

// GetSupportBundleFile answers with the file of a bundle of the caller.
func (s *Server) GetSupportBundleFile(ctx context.Context, r api.GetSupportBundleFileRequestObject) (api.GetSupportBundleFileResponseObject, error) {
	callerOf(ctx).object = r.ID
	found, err := s.findBundle(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case !found.Complete():
		return nil, problem.New(http.StatusConflict, problem.Conflict, "The support bundle is not complete.").With("Retry once its state is Complete")
	case found.Err != nil:
		return nil, s.bundleProblem(found.Err)
	}
	file, err := s.bundles.Open(ownerOf(callerOf(ctx).Principal), r.ID)
	if err != nil {
		return nil, noBundle(r.ID)
	}
	return api.GetSupportBundleFile200ApplicationGzipResponse{
		Body: file, ContentLength: found.Size, // the answer closes the file
		Headers: api.GetSupportBundleFile200ResponseHeaders{ContentDisposition: `attachment; filename="` + found.Name + `"`},
	}, nil
}

func (s *Server) findBundle(ctx context.Context, id string) (bundles.Bundle, error) {
	found, ok := s.bundles.Get(ownerOf(callerOf(ctx).Principal), id)
	if !ok {
		return found, noBundle(id)
	}
	return found, nil
}

func noBundle(id string) error {
	return problem.Newf(http.StatusNotFound, problem.NotFound, "You have no support bundle %q, or the server does not keep it any more.", id).
		With("Collect another one: POST /api/v1alpha1/support-bundles")
}

// bundleDocument describes a bundle.
func (s *Server) bundleDocument(b bundles.Bundle) api.SupportBundle {
	out := api.SupportBundle{
		ID: b.ID, State: api.Running, Operation: b.Operation, StartTime: b.Start.UTC(), ExpireTime: b.Expire.UTC(), Activity: b.Activity, Parts: b.Parts,
	}
	if out.Parts == nil {
		out.Parts = []cliv1alpha1.BundlePart{}
	}
	if !b.Complete() {
		return out
	}
	out.State, out.CompletionTime, out.File, out.Size = api.Complete, b.Completion.UTC(), b.Name, b.Size
	if b.Err != nil {
		p := s.bundleProblem(b.Err)
		out.State, out.Error = api.Failed, api.CheckError{Status: p.Status, Code: p.Code, Detail: p.Detail, Remedy: p.Remedy}
	}
	return out
}

// bundleProblem is the problem of a bundle that did not start, or that has no file.
func (s *Server) bundleProblem(err error) *problem.Error {
	switch {
	case errors.Is(err, bundles.ErrBusy):
		return problem.New(http.StatusTooManyRequests, problem.TooManyBundles, "Another support bundle is being collected.").
			With("Retry once it is complete").After(bundleRetry)
	case errors.Is(err, bundles.ErrNoSpace):
		return problem.New(http.StatusInsufficientStorage, problem.NoSpace, "The server has no disk space for a support bundle.").
			With("Free disk space in the directory of the server, or run `" + s.documents.command + " support-bundle`")
	case errors.Is(err, supportbundle.ErrEmpty):
		return problem.Newf(http.StatusBadGateway, problem.BundleFailed, "%s", sentence(err)).
			With("Grant the permissions in docs/support-bundle.md, or sign in as another user")
	}
	if p := s.problemOf(err); p.Code != problem.Internal {
		return p
	}
	s.log.Warn("a support bundle failed", "error", err)
	return problem.New(http.StatusBadGateway, problem.BundleFailed, "The support bundle could not be collected.").
		With("Check the log of the server, then retry")
}

// sweep deletes expired bundles until the context ends.
func (s *Server) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.bundles.Sweep()
		}
	}
}
