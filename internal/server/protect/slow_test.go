package protect_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/protect"
)

const (
	timeout = time.Second // of a client that is not slow on a machine with other work
	wait    = 20 * time.Second
)

// serve protects a handler whose clients have little time. It uses HTTP/1.1, or HTTP/2.
func serve(t *testing.T, isHTTP2 bool, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(protect.HandlerWithin(handler, timeout))
	s.EnableHTTP2 = isHTTP2
	s.Config.HTTP2 = &http.HTTP2Config{WriteByteTimeout: timeout} // as the server has it: a deadline alone does not end a write
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

var protocols = map[string]bool{"HTTP/1.1": false, "HTTP/2": true}

// post sends a body in the given parts, with a pause of twice the timeout before each but the
// first.
func post(t *testing.T, s *httptest.Server, parts ...string) (*http.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	t.Cleanup(cancel)
	reader, writer := io.Pipe()
	go func() {
		for i, part := range parts {
			if i > 0 {
				time.Sleep(2 * timeout)
			}
			if _, err := io.WriteString(writer, part); err != nil {
				return
			}
		}
		_ = writer.Close()
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, reader)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.Client().Do(r)
	if err == nil {
		t.Cleanup(func() { _ = answer.Body.Close() })
	}
	return answer, err
}

// The deadline of a body does not cancel a request that takes longer, such as one that waits for a
// check.
func TestARequestMayTakeLongerThanItsBody(t *testing.T) {
	for protocol, http2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := serve(t, http2, func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Errorf("the body: %v", err)
				}
				select {
				case <-r.Context().Done():
					t.Errorf("the request was canceled: %v", context.Cause(r.Context()))
				case <-time.After(3 * timeout):
				}
				fmt.Fprint(w, "complete")
			})
			answer, err := post(t, s, "{}")
			if err != nil {
				t.Fatal(err)
			}
			if content, err := io.ReadAll(answer.Body); err != nil || string(content) != "complete" {
				t.Errorf("%s, %v", content, err)
			}
		})
	}
}

func TestABodyThatDoesNotArriveIsNotAwaited(t *testing.T) {
	for protocol, http2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			read := make(chan error, 1)
			s := serve(t, http2, func(w http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				read <- err
				w.WriteHeader(http.StatusRequestTimeout)
			})
			_, _ = post(t, s, "{", "}") // the answer, or a closed connection
			if err := <-read; err == nil {
				t.Error("the handler has waited for the body")
			}
		})
	}
}

// slowReader is a connection whose client stops reading.
type slowReader struct {
	net.Conn
	stopped <-chan struct{}
}

func (c *slowReader) Read(p []byte) (int, error) {
	select {
	case <-c.stopped:
		select {} // for the rest of the test
	default:
		return c.Conn.Read(p)
	}
}

// A client that stops reading an answer must not keep its handler.
func TestAnAnswerThatNobodyReadsEnds(t *testing.T) {
	for protocol, http2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			stopped, ended := make(chan struct{}), make(chan error, 1)
			s := serve(t, http2, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				close(stopped)
				_, err := w.Write(bytes.Repeat([]byte("x"), 64<<20)) // more than buffers of the kernel hold
				ended <- err
			})
			transport, is := s.Client().Transport.(*http.Transport)
			if !is {
				t.Fatalf("the client has a %T", s.Client().Transport)
			}
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := (&net.Dialer{}).DialContext(ctx, network, address)
				return &slowReader{Conn: c, stopped: stopped}, err
			}
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				if answer, err := s.Client().Do(r); err == nil {
					t.Cleanup(func() { _ = answer.Body.Close() })
				}
			}()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("everything was written")
				}
			case <-ctx.Done():
				t.Error("the handler still writes")
			}
			cancel()
			s.CloseClientConnections()
		})
	}
}

// A slow client receives a large answer, as long as it goes on reading.
func TestAnAnswerMayTakeLongerThanAPiece(t *testing.T) {
	for protocol, http2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			const size = 1 << 20
			s := serve(t, http2, func(w http.ResponseWriter, _ *http.Request) {
				for range 4 {
					if _, err := w.Write(bytes.Repeat([]byte("x"), size/4)); err != nil {
						t.Errorf("the answer: %v", err)
					}
					time.Sleep(2 * timeout) // a handler that waits is not a client that does
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := s.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if n, err := io.Copy(io.Discard, answer.Body); n != size || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
}
