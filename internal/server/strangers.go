package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/server/protect"
)

// The maximum of connections, and that of an address, which may be that of a proxy.
const (
	maxConnections         = 2000
	maxConnectionsOfClient = 1000
)

func (s *Server) excess(client string) {
	s.log.Warn("there are too many connections: new ones are closed", "client", client)
}

// strangers limits the requests of an address whose callers are not known, before their bodies are
// read: routes read and parse these before they know who sends them. Known callers have limits of
// their own.
func (s *Server) strangers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/") || s.isKnown(r) {
			next.ServeHTTP(w, r)
			return
		}
		if err := s.limitAddress(r.Context()); err != nil {
			problem.Write(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), countedKey{}, true)))
	})
}

// isKnown reports whether a request has the credentials of a caller who was admitted before. They
// may be revoked since.
func (s *Server) isKnown(r *http.Request) bool {
	if token, sent := bearer(r); sent {
		return s.gate.HasAdmitted(token)
	}
	cookie, err := r.Cookie(cookieName)
	return err == nil && s.gate.HasSession(cookie.Value)
}

type countedKey struct{}

// limitAddress counts a request of an address, once.
func (s *Server) limitAddress(ctx context.Context) error {
	if counted, _ := ctx.Value(countedKey{}).(bool); counted {
		return nil
	}
	return s.limit(s.requests, "address "+protect.Client(ctx))
}
