package server_test

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/server"
)

// freezer forwards connections. Those that are open when it freezes stay open, and forward nothing
// any more, as if the other machine were gone.
type freezer struct {
	to string

	mu     sync.Mutex
	frozen chan struct{}
}

func (f *freezer) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, f.to)
	f.mu.Lock()
	defer f.mu.Unlock()
	return &freezing{Conn: conn, frozen: f.frozen, closed: make(chan struct{})}, err
}

func (f *freezer) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.frozen)
	f.frozen = make(chan struct{})
}

type freezing struct {
	net.Conn

	frozen, closed chan struct{}
	once           sync.Once
}

func (c *freezing) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.frozen:
		<-c.closed
		return 0, io.EOF
	default:
		return n, err
	}
}

func (c *freezing) Write(p []byte) (int, error) {
	select {
	case <-c.frozen:
		return len(p), nil
	default:
		return c.Conn.Write(p)
	}
}

func (c *freezing) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A write with the token of a caller must not fail for 45 seconds because a machine is gone.
func TestAWriteDoesNotUseADeadConnectionForLong(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	way := &freezer{to: s.Listener.Addr().String(), frozen: make(chan struct{})}
	config := &rest.Config{Host: s.URL, Dial: way.dial}
	config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	transport, err := server.ConnectionsOfCallers(config)
	must(t, err)
	write := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPatch, s.URL, http.NoBody)
		must(t, err)
		answer, err := transport.RoundTrip(r)
		if err != nil {
			return err
		}
		if answer.ProtoMajor != 2 {
			t.Errorf("the connection is %s", answer.Proto)
		}
		return answer.Body.Close()
	}
	must(t, write())
	way.freeze()
	if first := write(); first != nil {
		if err := write(); err != nil {
			t.Errorf("the first write: %v, and the second: %v", first, err)
		}
	}
}
