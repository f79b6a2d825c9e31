package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/audit"
	"github.com/refit-dev/refit/internal/server/bundles"
	"github.com/refit-dev/refit/internal/server/checks"
	"github.com/refit-dev/refit/internal/server/lastknown"
	"github.com/refit-dev/refit/internal/server/oidc"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/server/protect"
	"github.com/refit-dev/refit/internal/server/sessionfile"
	"github.com/refit-dev/refit/internal/server/stream"
	"github.com/refit-dev/refit/web"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	// pingInterval is the time after which the server checks a connection that sends nothing, and
	// pieceTimeout how long a connection may accept nothing. They are for HTTP/2: protect has the
	// deadlines of requests, which end streams only.
	pingInterval = 15 * time.Second
	pieceTimeout = 30 * time.Second
	// shutdownTimeout is how long requests in progress may take once the server ends.
	shutdownTimeout = 5 * time.Second
	// saveInterval is the time between two writes of the last known state while it changes, and
	// confirmInterval while only its age does.
	saveInterval    = 10 * time.Second
	confirmInterval = time.Minute
	// explainInterval is the time between two explanations of an outage.
	explainInterval = time.Second
)

// Options configure a server.
type Options struct {
	// Cluster is the cluster, with a client that has the server's own credentials.
	Cluster *operations.Cluster
	// Config connects to the API server. Clients of callers have their own credentials.
	Config *rest.Config
	// Directory keeps the last known state and the audit log. Its path is absolute.
	Directory string
	// Hosts are the names and addresses that the server answers for.
	Hosts []string
	// OneTimeCodes allows sessions with the server's own credentials, for the person who has
	// started the server.
	OneTimeCodes bool
	// Issuer signs people in with OpenID Connect. The API server has to trust it.
	Issuer oidc.Options
	Log    *slog.Logger
	// Version is that of Refit, for support bundles.
	Version string
	// Observe takes the Snapshot of a check. If nil, the cluster is read.
	Observe Observe
	// CollectBundle writes a support bundle. If nil, the cluster is read.
	CollectBundle CollectBundle
	// AgentSocket is the socket of the agent on this host, which may have none.
	AgentSocket string
}

// Server is the HTTP API.
type Server struct {
	options   Options
	log       *slog.Logger
	boot      string // the id of this run
	mirror    *operations.Mirror
	local     *localAgent
	documents *documents
	ring      *stream.Ring
	publisher *publisher
	gate      *access.Gate
	codes     *access.Codes
	issuer    string      // the URL of the OpenID Connect issuer; empty if there is none
	flows     *oidc.Flows // the sign-ins at the issuer in progress; nil if there is none
	callers   *callers
	observe   Observe
	checks    *checks.Registry
	collect   CollectBundle
	bundles   *bundles.Registry
	starts    keyLocks
	forms     *forms
	audit     *audit.Log
	file      *lastknown.File
	handler   http.Handler

	requests, signIns *protect.Limits
	streams           atomic.Int64
	reviewInterval    time.Duration // of callers who stay
	ending            chan struct{} // closed when the server ends
	end               sync.Once

	publishing sync.Mutex

	saving  sync.Mutex
	saveNow chan struct{}
	down    atomic.Bool // the API server, as logged last
	dirty   atomic.Bool // the state has changed since it was saved
	saved   time.Time   // guarded by saving
}

// New returns a server. It fails if a route has no permission.
func New(options Options) (*Server, error) {
	if err := durable.MkdirAll(options.Directory, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the directory of the server: %w", err)
	}
	log, err := audit.Open(options.Directory, options.Cluster.Now)
	if err != nil {
		return nil, err
	}
	local := &localAgent{socket: options.AgentSocket, now: options.Cluster.Now, log: options.Log}
	s := &Server{
		options: options, local: local, log: options.Log, boot: rand.Text()[:12], audit: log, codes: access.NewCodes(options.Cluster.Now),
		file:      &lastknown.File{Directory: options.Directory, Cluster: options.Cluster.Name, Server: options.Config.Host},
		documents: &documents{cluster: options.Cluster.Name, command: options.Cluster.Command, now: options.Cluster.Now, local: local},
		requests:  protect.NewLimits(requestsPerSecond, requestsAtOnce), signIns: protect.NewLimits(signInsPerMinute/60.0, signInsPerMinute),
		ending: make(chan struct{}), saveNow: make(chan struct{}, 1), reviewInterval: reviewInterval,
		observe: observeCluster(options), checks: checks.New(options.Cluster.Now), starts: keyLocks{held: map[string]chan struct{}{}}, forms: newForms(),
	}
	if options.Observe != nil {
		s.observe = options.Observe
	}
	if s.collect = options.CollectBundle; s.collect == nil {
		s.collect = collectBundle(options.Cluster.Name, options.Version, options.Cluster.Now)
	}
	if s.bundles, err = bundles.New(options.Directory, options.Cluster.Now); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	s.ring = stream.New(s.boot)
	s.publisher = newPublisher(s.documents, s.ring)
	reviewer := &reviews{Reviews: access.Reviews{Client: options.Cluster.Client}, unreachable: s.isUnreachable}
	s.gate = access.NewGate(reviewer, options.Cluster.Now, operations.Unanswered)
	sessions := &sessionfile.File{Directory: options.Directory, Server: options.Config.Host}
	if err := s.gate.KeepSessions(sessions, func(err error) { s.log.Warn("a session ends with this server", "error", err) }); err != nil {
		s.log.Warn("the sessions of the last server are ignored", "error", err)
	}
	if s.callers, err = newCallers(options); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	if err := s.useIssuer(options.Issuer); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	last, err := s.file.Load()
	if err != nil {
		s.log.Warn("the last known state is ignored", "error", err)
	}
	s.mirror = operations.NewMirror(options.Cluster, last)
	s.mirror.Describe, s.mirror.Changed = artifact.Listed, s.changed
	local.changed = func() { s.publish(operations.Changes{}) }
	if s.handler, err = s.routes(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// routes returns the handler of all routes.
func (s *Server) routes() (http.Handler, error) {
	if err := permissions.complete(); err != nil {
		return nil, err
	}
	strict := api.NewStrictHandlerWithOptions(s, []api.StrictMiddlewareFunc{s.authorize}, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc: badRequest, ResponseErrorHandlerFunc: s.failed,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, problem.Newf(http.StatusNotFound, problem.NotFound, "There is no %s.", r.URL.Path).With("GET /openapi.yaml describes the API"))
	})
	mux.Handle("/", web.Handler()) // its pages have paths of their own
	routed := api.HandlerWithOptions(strict, api.StdHTTPServerOptions{
		BaseRouter: mux, ErrorHandlerFunc: badRequest, Middlewares: []api.MiddlewareFunc{strictBodies},
	})
	return protect.Handler(withClient(s.strangers(routed)), s.options.Hosts, s.log), nil
}

func withClient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(protect.WithClient(r.Context(), r)))
	})
}

// badRequest answers a request that does not match the description of the API.
func badRequest(w http.ResponseWriter, r *http.Request, err error) {
	p := problem.Of(err)
	missing, is := errors.AsType[*api.RequiredHeaderError](err)
	switch {
	case is && missing.ParamName == "If-Match":
		p = problem.New(http.StatusPreconditionRequired, problem.PreconditionRequired, "The request does not name what the caller has read.").
			With("Read it, and set the header If-Match to its ETag")
	case p.Code == problem.Internal:
		p = problem.Newf(http.StatusBadRequest, problem.BadRequest, "The request does not match the API: %s.", err).With("GET /openapi.yaml describes the API")
	}
	problem.Write(w, r, p)
}

// failed answers a request that a handler rejects or could not handle.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problemOf(err)
	if p.Code == problem.Internal && r.Context().Err() == nil {
		s.log.Error("a request failed", "requestId", problem.RequestID(r.Context()), "method", r.Method, "path", r.URL.Path, "error", err)
	}
	problem.Write(w, r, p)
}

// Handler is the handler of all routes, for tests.
func (s *Server) Handler() http.Handler { return s.handler }

// NewCode returns a one-time code to sign in with.
func (s *Server) NewCode() string { return s.codes.Issue() }

// Run serves until the context ends.
func (s *Server) Run(ctx context.Context, listener net.Listener, config *tls.Config) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var background sync.WaitGroup
	background.Go(func() { s.mirror.Run(running) })
	background.Go(func() { s.local.run(running) })
	background.Go(func() { s.explain(running) })
	background.Go(func() { s.keep(running) })
	background.Go(func() { s.sweep(running) })
	background.Go(func() { s.findAPIServers(running) })
	listening := &http.Server{
		Handler: s.handler, TLSConfig: config, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{SendPingTimeout: pingInterval, WriteByteTimeout: pieceTimeout},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	listener = protect.Connections(listener, maxConnections, maxConnectionsOfClient, s.excess)
	failed := make(chan error, 1)
	background.Go(func() { failed <- listening.ServeTLS(listener, "", "") })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.end.Do(func() { close(s.ending) }) // streams and waits end
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if listening.Shutdown(limited) != nil {
		_ = listening.Close() // requests that take longer
	}
	stop()
	s.checks.Close()
	background.Wait()
	s.save()
	return errors.Join(err, s.bundles.Close(), s.audit.Close())
}

// changed publishes a batch of changes. The state is saved when an outage begins, but not here: the
// disk may be the reason for the outage, and must not delay what happens next.
func (s *Server) changed(changes operations.Changes) {
	down := s.publish(changes)
	if changes.API {
		s.logOutage()
	}
	if s.dirty.Store(true); changes.API && down {
		select {
		case s.saveNow <- struct{}{}:
		default:
		}
	}
}

// logOutage logs when an outage begins and ends.
func (s *Server) logOutage() {
	var link operations.APILink
	s.mirror.Read(func(c *operations.Copy) { link = c.API })
	down := !link.UnreachableSince.IsZero()
	if s.down.Swap(down) == down {
		return
	}
	if down {
		s.log.Warn("the API server is unreachable", "since", link.UnreachableSince.UTC(), "error", link.Error)
	} else {
		s.log.Info("the API server answers again")
	}
}

// publish publishes what has changed, and returns whether the API server is unreachable.
func (s *Server) publish(changes operations.Changes) (down bool) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	var err error
	s.mirror.Read(func(c *operations.Copy) {
		err = s.publisher.publish(c, changes)
		down = !c.API.UnreachableSince.IsZero()
	})
	if err != nil {
		s.log.Error("cannot publish a change", "error", err)
	}
	return down
}

// explain publishes the explanation of an outage each second: it has durations, and what explains
// an outage ends.
func (s *Server) explain(ctx context.Context) {
	ticker := time.NewTicker(explainInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			down := false
			s.mirror.Read(func(c *operations.Copy) { down = !c.API.UnreachableSince.IsZero() })
			if down {
				s.publish(operations.Changes{})
			}
		}
	}
}

// keep saves the state from time to time.
func (s *Server) keep(ctx context.Context) {
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.saveNow:
			s.save()
		case <-ticker.C:
			if s.dirty.Load() || s.savedBefore(confirmInterval) {
				s.save()
			}
		}
	}
}

func (s *Server) savedBefore(age time.Duration) bool {
	s.saving.Lock()
	defer s.saving.Unlock()
	return time.Since(s.saved) >= age
}

// save writes the last known state.
func (s *Server) save() {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.dirty.Store(false)
	s.saved = time.Now()
	var state operations.Copy
	s.mirror.Read(func(c *operations.Copy) { state = c.Clone() }) // the disk must not delay the copy
	if err := s.file.Save(&state); err != nil {
		s.log.Warn("cannot keep the last known state", "error", err)
	}
}
