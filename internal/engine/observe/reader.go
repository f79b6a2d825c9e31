package observe

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	// The server's own fairness queues decide how fast it answers; these only keep a bug from flooding it.
	queriesPerSecond, burst = 100, 200

	// requestTimeout is for one request, of which the longest are pages of 500 pods over a slow line.
	requestTimeout = time.Minute
)

// Options are what a Reader may be told.
type Options struct {
	// Progress is told what is being read, in a few words, for a person who waits. It is never called twice at once.
	Progress func(what string)
}

// Reader reads Snapshots of one cluster. Several may be taken at once.
type Reader struct {
	options Options
	client  kubernetes.Interface
	raw     rest.Interface // for kinds that no typed client knows

	host *url.URL     // the endpoint, with its path if it has one
	http *http.Client // for the endpoint, with the person's credentials
	// direct is for the addresses of the API servers themselves. It is nil where the credentials could end up with somebody else; see newDirect.
	direct *http.Client
}

// New makes a Reader that acts with the credentials of a client configuration, which it copies.
func New(config *rest.Config, options Options) (*Reader, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.RateLimiter = queriesPerSecond, burst, nil
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent())
	config.WarningHandler = rest.NoWarnings{} // nobody sees the server's remarks on our requests
	if config.Timeout == 0 {
		config.Timeout = requestTimeout
	}
	config.Wrap(metered)

	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address %q: %w", config.Host, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", host.Host, err)
	}
	typed, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", host.Host, err)
	}
	direct, err := newDirect(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the API servers' own addresses: %w", err)
	}
	return &Reader{
		options: options, client: typed, raw: typed.CoreV1().RESTClient(), host: host, http: withoutRedirects(client), direct: direct,
	}, nil
}

// Snapshot reads the cluster. operation names the ClusterUpgrade that the Snapshot will be thought about for; empty: none.
//
// It is an error if the API or the nodes cannot be read, or if ctx ends. All else that cannot be read is among the Snapshot's Gaps.
func (r *Reader) Snapshot(ctx context.Context, operation string) (*cluster.Snapshot, error) {
	begun := time.Now()
	meter := &meter{}
	g := newGathering(r, operation, meter)
	if err := g.gather(withMeter(ctx, meter)); err != nil {
		return nil, err
	}
	s := g.snapshot
	s.TakenAt = begun.UTC()
	s.Cost.Requests, s.Cost.Bytes = meter.cost()
	s.Cost.Took = time.Since(begun)
	return s, nil
}
