//go:build e2e

package agent

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// server gives nodes the files of releases over HTTP, by their digests, from the machine's end of the cluster's bridge.
type server struct {
	URL string

	mu    sync.Mutex
	files map[string]string // by digest
	// fault answers instead of the server, if it says so.
	fault func(w http.ResponseWriter, r *http.Request, file string) bool
}

// serve starts a server that ends with the test.
func serve(t *testing.T, endpoint string) *server {
	t.Helper()
	bridge, err := netip.ParseAddrPort(endpoint)
	must(t, err)
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", netip.AddrPortFrom(bridge.Addr(), 0).String())
	must(t, err)
	s := &server{URL: "http://" + listener.Addr().String(), files: map[string]string{}}
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := web.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving files to nodes: %v", err)
		}
	}()
	t.Cleanup(func() { _ = web.Close() })
	return s
}

// add lets nodes have a file.
func (s *server) add(digest, file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[digest] = file
}

// breaks makes the server answer wrongly from now on; nil mends it.
func (s *server) breaks(fault func(w http.ResponseWriter, r *http.Request, file string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// The faults of servers.

// away is a server that knows nothing any more.
func away(w http.ResponseWriter, _ *http.Request, _ string) bool {
	w.WriteHeader(http.StatusServiceUnavailable)
	return true
}

// flips changes one byte in the middle of every file.
func flips(w http.ResponseWriter, _ *http.Request, file string) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	content[len(content)/2] ^= 1
	_, _ = w.Write(content) // the node may have hung up
	return true
}

// cuts sends the whole length in the header and a part of the file, and hangs up. It does so each time.
func cuts(w http.ResponseWriter, _ *http.Request, file string) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	w.Header().Set("Content-Length", "1")
	_, _ = w.Write(content[:len(content)/3])
	return true
}
