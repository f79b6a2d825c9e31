package agents

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/version"
)

// server is the API server of a control plane host. It serves health and version only, at an
// address of its own.
type server struct {
	address string

	mu      sync.Mutex
	version string
	down    bool
	http    *http.Server
}

func (a *authority) listen(version string) (*server, error) {
	loopback := net.IPv4(127, 0, 0, 1)
	certificate, err := a.server(loopback)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	listener, err := tls.Listen("tcp", net.JoinHostPort(loopback.String(), "0"), config)
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	s := &server{address: listener.Addr().String(), version: version}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = s.http.Serve(listener) }() // returns after close
	return s, nil
}

// ServeHTTP answers /version, /readyz and /metrics.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	reported, down := s.version, s.down
	s.mu.Unlock()
	switch {
	case down:
		http.Error(w, "[-]etcd failed: reason withheld", http.StatusInternalServerError)
	case r.URL.Path == "/version":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(version.Info{GitVersion: reported}) // the client may have disconnected
	}
}

// set changes the version that the server reports, and whether it is ready.
func (s *server) set(version string, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.down = version, down
}

// close stops the server, if there is one.
func (s *server) close() {
	if s != nil {
		_ = s.http.Close()
	}
}
