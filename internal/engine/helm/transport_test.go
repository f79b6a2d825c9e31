package helm

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// A lateLease has ended, but its timer has not run yet.
type lateLease struct{ context.Context }

func (lateLease) Deadline() (time.Time, bool) { return time.Now(), true }

func TestRequestsAfterTheEndOfTheLease(t *testing.T) {
	var served atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer server.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	for situation, c := range map[string]struct {
		lease, action context.Context
		want          error
	}{
		"the leader leads":               {t.Context(), t.Context(), nil},
		"the lease has ended":            {ended, t.Context(), ErrLeaseLost},
		"its timer has not run":          {lateLease{t.Context()}, t.Context(), ErrLeaseLost},
		"the action has been canceled":   {t.Context(), ended, context.Canceled},
		"the lease ended with an action": {ended, ended, ErrLeaseLost},
	} {
		served.Store(0)
		err := send(t, c.lease, c.action, server.URL)
		if !errors.Is(err, c.want) || (served.Load() == 1) != (c.want == nil) {
			t.Errorf("%s: %v, and %d requests", situation, err, served.Load())
		}
	}
}

func TestARequestEndsWithTheLease(t *testing.T) {
	arrived, released := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-released
	}))
	defer server.Close()
	defer close(released)
	lease, lose := context.WithCancel(t.Context())
	go func() {
		<-arrived
		lose()
	}()
	if err := send(t, lease, t.Context(), server.URL); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("the request returned %v", err)
	}
}

// send sends a request without a context, as Helm does.
func send(t *testing.T, lease, action context.Context, url string) error {
	t.Helper()
	client, err := rest.HTTPClientFor(fenced(lease, action, &rest.Config{Host: url}))
	must(t, err)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, http.NoBody) //nolint:usetesting // as Helm does
	must(t, err)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
