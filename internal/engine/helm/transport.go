package helm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// Fenced returns a configuration whose requests fail with ErrLeaseLost after the lease has ended:
// for clients of the same leader that change objects beside Helm.
func Fenced(lease context.Context, config *rest.Config) *rest.Config {
	return fenced(lease, lease, config)
}

// fenced returns a configuration whose requests end with the lease and with the action. The drivers
// and clients of Helm send most requests without a context.
func fenced(lease, action context.Context, config *rest.Config) *rest.Config {
	copied := rest.CopyConfig(config)
	copied.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &fence{lease: lease, action: action, next: next}
	})
	return copied
}

// A fence refuses requests after the lease of the leader has ended. A process that wakes up after a
// pause may run before the timer of the lease does, so the deadline of the context counts, too: it
// may move while the leader renews its lease.
type fence struct {
	lease, action context.Context
	next          http.RoundTripper
}

func (f *fence) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := f.closed(); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	ctx, cancel := context.WithCancel(request.Context())
	stops := []func() bool{context.AfterFunc(f.lease, cancel), context.AfterFunc(f.action, cancel)}
	release := func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
	response, err := f.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		release()
		if closed := f.closed(); closed != nil {
			return nil, fmt.Errorf("%w: %w", closed, err)
		}
		return nil, err
	}
	response.Body = &releasingBody{ReadCloser: response.Body, release: release}
	return response, nil
}

// closed returns why no request may be sent.
func (f *fence) closed() error {
	if err := leaseLost(f.lease); err != nil {
		return err
	}
	if f.action.Err() != nil {
		return context.Cause(f.action)
	}
	return nil
}

func leaseLost(lease context.Context) error {
	if deadline, ok := lease.Deadline(); lease.Err() != nil || ok && !time.Now().Before(deadline) {
		return ErrLeaseLost
	}
	return nil
}

// A releasingBody ends the context of its request when it is closed.
type releasingBody struct {
	io.ReadCloser
	release func()
}

func (b *releasingBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
