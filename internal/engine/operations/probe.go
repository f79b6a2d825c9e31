package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// An API server that hangs is reported within the sum of the first two. One of several has less
// time, so that another one can answer before it is reported.
const (
	probeInterval = 500 * time.Millisecond
	probeTimeout  = 2 * time.Second
	oneOfSeveral  = 1200 * time.Millisecond
)

// quickly is the time within which one of several API servers is read again if a read fails. A load
// balancer closes connections, and etcd elects leaders: another API server cannot answer sooner
// then, and may be unreachable from here.
const quickly = 300 * time.Millisecond

// probe reads something until the context ends, and reports each result with the time at which the
// request started. A watch cannot notice an outage: it stays open without an event while the API
// server or its etcd hangs. The read must have no resourceVersion, so that etcd has to answer it.
func (l *link) probe(ctx context.Context, read func(context.Context) error, report func(started time.Time, err error)) {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		started := l.Now()
		err := l.probeEach(ctx, read)
		if ctx.Err() != nil {
			return
		}
		report(started, err)
	}
}

// probeEach reads from one API server after another until one answers, and returns the error of the
// first one if none does. The cluster is reachable while one of them answers.
func (l *link) probeEach(ctx context.Context, read func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	servers, timeout := l.servers(), probeTimeout
	if servers > 1 {
		timeout = oneOfSeveral
	}
	var first error
	for range servers {
		started := l.Now()
		err := respond(limited, timeout, read)
		if err != nil && servers > 1 && l.Now().Sub(started) < quickly {
			err = respond(limited, timeout, read) // on another connection, if that one was closed
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		first = cmp.Or(first, err)
		l.redial()
		l.outages.report()
		if limited.Err() != nil {
			break
		}
	}
	return first
}

// respond returns an error unless the API server answers a read. A refusal is an answer.
func respond(ctx context.Context, timeout time.Duration, read func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the API server did not respond within %s", timeout))
	defer cancel()
	return unanswered(ctx, read(ctx))
}

// readMetadata is the read of the probe of one operation.
func (f *Follower) readMetadata(ctx context.Context) error {
	var found metav1.PartialObjectMetadata
	found.SetGroupVersionKind(refitv1alpha1.GroupVersion.WithKind("ClusterUpgrade"))
	return f.Client.Get(ctx, client.ObjectKey{Name: f.Operation}, &found)
}

// Unanswered reports whether a request failed because the API server did not answer it, or could
// not. A refusal is an answer.
func Unanswered(err error) bool { return unanswered(context.Background(), err) != nil }

// unanswered returns the error of a request that the API server did not answer, or could not.
func unanswered(ctx context.Context, err error) error {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Code < http.StatusInternalServerError {
		return nil
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}

// servers returns the number of API servers that clients can use.
func (c *Cluster) servers() int {
	if c.APIServers == nil {
		return 1
	}
	return c.APIServers.count()
}

// redial closes the connections of the client: one to a machine that is gone would otherwise stay
// in use until TCP gives it up. The next connection may be to another API server.
func (c *Cluster) redial() {
	if c.APIServers != nil {
		c.APIServers.next()
	}
	if connection, ok := c.Client.(interface{ Redial() }); ok {
		connection.Redial()
	}
}

// errOutage ends the requests in progress when the API server does not respond.
var errOutage = errors.New("the API server does not respond")

// outages ends every list and watch in progress at an outage, so that they begin again.
type outages struct {
	mu      sync.Mutex
	parent  context.Context
	current context.Context
	end     context.CancelCauseFunc
}

func newOutages(parent context.Context) *outages {
	o := &outages{parent: parent}
	o.current, o.end = context.WithCancelCause(parent)
	return o
}

// next returns a context that ends with the next outage.
func (o *outages) next() context.Context {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.current
}

func (o *outages) report() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end(errOutage)
	o.current, o.end = context.WithCancelCause(o.parent)
}
