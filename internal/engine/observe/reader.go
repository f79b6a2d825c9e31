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
	// API Priority and Fairness limits the load on the server; these only keep a bug from flooding
	// it.
	queriesPerSecond, burst = 100, 200

	// requestTimeout is the timeout of a request. The longest are pages of 500 pods over a slow
	// connection.
	requestTimeout = time.Minute
)

// Options are the options of a Reader.
type Options struct {
	// Progress reports what is being read. It is not called concurrently.
	Progress func(what string)
	// Direct is the configuration for the addresses of the API servers. It is that of the Reader,
	// unless its connections may be to another API server than the one that is addressed.
	Direct *rest.Config
}

// Reader reads Snapshots of one cluster. It is safe for concurrent use.
type Reader struct {
	options Options
	client  kubernetes.Interface
	raw     rest.Interface // for kinds without a typed client

	host *url.URL     // the endpoint, with its path if it has one
	http *http.Client // for the endpoint, with the user's credentials
	// direct is for the addresses of the API servers. It is nil if it could leak the credentials;
	// see newDirect.
	direct *http.Client
}

// New returns a Reader with the credentials of a client configuration, which it copies.
func New(config *rest.Config, options Options) (*Reader, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.RateLimiter = queriesPerSecond, burst, nil
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent())
	// The user does not see the warnings about these requests.
	config.WarningHandler = rest.NoWarnings{}
	if config.Timeout == 0 {
		config.Timeout = requestTimeout
	}
	config.Wrap(metered)

	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot parse the address %q of the API server: %w", config.Host, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client for %s: %w", host.Host, err)
	}
	typed, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client for %s: %w", host.Host, err)
	}
	plain := config
	if options.Direct != nil {
		plain = rest.CopyConfig(options.Direct)
		plain.UserAgent, plain.Timeout = config.UserAgent, config.Timeout
		plain.Wrap(metered)
	}
	direct, err := newDirect(plain)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client for the addresses of the API servers: %w", err)
	}
	return &Reader{
		options: options, client: typed, raw: typed.CoreV1().RESTClient(), host: host, http: withoutRedirects(client), direct: direct,
	}, nil
}

// Snapshot reads the cluster. operation is the name of the ClusterUpgrade for which the Snapshot is
// taken, or empty.
//
// It fails if the API or the nodes cannot be read, or if ctx ends. Everything else that cannot be
// read is a Gap of the Snapshot.
func (r *Reader) Snapshot(ctx context.Context, operation string) (*cluster.Snapshot, error) {
	start := time.Now()
	meter := &meter{}
	obs := newObservation(r, operation, meter)
	if err := obs.readAll(withMeter(ctx, meter)); err != nil {
		return nil, err
	}
	s := obs.snapshot
	s.TakenAt = start.UTC()
	s.Cost.Requests, s.Cost.Bytes = meter.cost()
	s.Cost.Took = time.Since(start)
	s.ClockOffset = obs.clockOffset()
	return s, nil
}
