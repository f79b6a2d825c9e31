//go:build apiserver

package controller

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// wire is a proxy between a controller and the API: it delays requests and freezes watches.
type wire struct {
	mu     sync.Mutex
	match  func(*http.Request) bool
	hold   *hold
	frozen chan struct{} // closed when watches of a resource resume; nil: they are not frozen
	of     string        // the frozen resource
	status []int         // responses to the delayed requests
	leads  bool          // a request was delayed, and the controller still believes that it is the leader
}

// through connects a bed's controllers through a wire.
func (b *bed) through() *wire {
	w := &wire{}
	b.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &attached{w, next} })
	return w
}

// attached is a wire on one transport.
type attached struct {
	*wire
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (a *attached) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	held := a.hold
	if held != nil && !a.match(r) {
		held = nil
	}
	if held != nil {
		a.hold, a.leads = nil, true // the first one only
	}
	leads := a.leads
	a.mu.Unlock()
	if leads && r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/leases/") {
		return &http.Response{StatusCode: http.StatusOK, Header: r.Header, Body: r.Body, Request: r}, nil
	}
	if held != nil {
		held.once.Do(func() { close(held.reached) })
		select {
		case <-held.free:
		case <-r.Context().Done():
		}
	}
	answer, err := a.next.RoundTrip(r)
	if err == nil && held != nil {
		a.mu.Lock()
		a.status = append(a.status, answer.StatusCode)
		a.mu.Unlock()
	}
	if err == nil && r.URL.Query().Get("watch") == "true" {
		answer.Body = &watched{ReadCloser: answer.Body, wire: a.wire, path: r.URL.Path}
	}
	return answer, err
}

// holdUp delays the next matching request.
func (w *wire) holdUp(match func(*http.Request) bool) *hold {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.match, w.hold = match, &hold{reached: make(chan struct{}), free: make(chan struct{})}
	return w.hold
}

// answers returns the status codes of the delayed requests.
func (w *wire) answers() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// freeze stops the events of a resource's watches without closing them.
func (w *wire) freeze(t *testing.T, resource string) (thaw func()) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	frozen := make(chan struct{})
	w.frozen, w.of = frozen, resource
	thaw = sync.OnceFunc(func() { close(frozen) })
	t.Cleanup(thaw)
	return thaw
}

// watched is the stream of a watch.
type watched struct {
	io.ReadCloser
	wire *wire
	path string
}

func (s *watched) Read(into []byte) (int, error) {
	n, err := s.ReadCloser.Read(into)
	s.wire.mu.Lock()
	frozen := s.wire.frozen
	if !strings.HasSuffix(s.path, s.wire.of) {
		frozen = nil
	}
	s.wire.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
	return n, err
}

// writes returns a function that matches requests with a method to a resource.
func writes(method, resource string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.Contains(r.URL.Path, resource) }
}
