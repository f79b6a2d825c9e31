// Package protect has what every request passes before a route handles it: an id, the hosts that
// the server answers for, the origins that may send writes, the size of bodies, and the headers of
// every answer.
package protect

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/web"
)

// headers are in every answer.
var headers = map[string]string{
	"Content-Security-Policy":      web.ContentSecurityPolicy,
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	"Referrer-Policy":              "no-referrer",
	"Strict-Transport-Security":    "max-age=31536000",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
}

// timeouts are how long clients may take.
type timeouts struct {
	body  time.Duration // to send a body
	piece time.Duration // to receive a piece of an answer
}

// Handler protects a handler. Hosts are the names and addresses that the server answers for,
// without ports.
func Handler(next http.Handler, hosts []string, log *slog.Logger) http.Handler {
	return handler(next, hosts, log, timeouts{body: 10 * time.Second, piece: 30 * time.Second})
}

func handler(next http.Handler, hosts []string, log *slog.Logger, t timeouts) http.Handler {
	for _, protect := range []func(http.Handler) http.Handler{
		bodies(t.body), origins, allow(hosts), answers, recovered(log), identified, timed(t.piece), // the last is the first that a request passes
	} {
		next = protect(next)
	}
	return next
}

// identified gives a request an id.
func identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r.WithContext(problem.WithRequestID(r.Context(), id)))
	})
}

// recovered answers a request whose handler panics.
func recovered(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				cause := recover()
				if cause == nil {
					return
				}
				if err, is := cause.(error); is && errors.Is(err, http.ErrAbortHandler) {
					panic(cause)
				}
				log.Error("a handler panicked", "requestId", problem.RequestID(r.Context()), "path", r.URL.Path, "cause", fmt.Sprint(cause),
					"stack", string(debug.Stack()))
				problem.Write(w, r, errors.New("panic"))
			}()
			next.ServeHTTP(w, r)
		})
	}
}

func answers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// allow rejects requests for other hosts: a page of another site whose name resolves to this
// address must not read anything.
func allow(hosts []string) func(http.Handler) http.Handler {
	allowed := map[string]bool{}
	for _, host := range hosts {
		allowed[strings.ToLower(host)] = true
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if host := HostOf(r.Host); !allowed[host] {
				problem.Write(w, r, problem.Newf(http.StatusMisdirectedRequest, problem.MisdirectedHost, "The server does not answer for the host %q.", host).
					With("Use the printed URL, or start the server with --allowed-host"))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// HostOf is the host of an address without its port.
func HostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(address, "[]"), "."))
}

// origins rejects writes that a page of another site sends.
func origins(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, problem.New(http.StatusForbidden, problem.CrossOrigin, "A page of another site sent the request."))
	}))
	return protection.Handler(next)
}

// Remote is the address of a client, without its port.
func Remote(ctx context.Context) string {
	address, _ := ctx.Value(remote{}).(string)
	return address
}

type remote struct{}

// Host is the host that the client has sent the request to, with its port. The server answers for
// it.
func Host(ctx context.Context) string {
	name, _ := ctx.Value(host{}).(string)
	return name
}

type host struct{}

// WithClient returns a context with the address of the client of a request, and the host that it
// was sent to.
func WithClient(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(context.WithValue(ctx, remote{}, HostOf(r.RemoteAddr)), host{}, r.Host)
}
