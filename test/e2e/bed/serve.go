package bed

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server serves the files of releases to nodes over HTTP, by digest, on the machine's end of the
// cluster's bridge.
type Server struct {
	URL string

	mu    sync.Mutex
	files map[string]string // by digest
	// fault responds instead of the server if it returns true.
	fault func(w http.ResponseWriter, r *http.Request, file string) bool
}

// serve starts a server that stops when the test ends.
func serve(t *testing.T, bridge netip.Addr) *Server {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", netip.AddrPortFrom(bridge, 0).String())
	Must(t, err)
	s := &Server{URL: "http://" + listener.Addr().String(), files: map[string]string{}}
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := web.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving files to nodes: %v", err)
		}
	}()
	t.Cleanup(func() { _ = web.Close() })
	return s
}

// Add offers a file to nodes.
func (s *Server) Add(digest, file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[digest] = file
}

// Breaks makes the server respond with a fault from now on; nil clears it.
func (s *Server) Breaks(fault func(w http.ResponseWriter, r *http.Request, file string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, "/blobs/sha256/")
	s.mu.Lock()
	file, there := s.files["sha256:"+name]
	fault := s.fault
	s.mu.Unlock()
	switch {
	case fault != nil && fault(w, r, file):
	case !ok || !there:
		http.NotFound(w, r)
	default:
		http.ServeFile(w, r, file)
	}
}
