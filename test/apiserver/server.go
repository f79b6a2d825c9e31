package apiserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/progress"
)

// A Server is a running kube-apiserver and its etcd. Except for Stop and Restart, its methods are
// safe for concurrent use.
type Server struct {
	directory // keys, logs and etcd's data
	options   Options
	binaries  builder.Binaries
	authority authority
	admin     *rest.Config // for the tests
	harness   *rest.Config // for the harness's own requests

	port, etcdPort, peerPort port
	etcd, apiserver          *process
	stopped                  time.Time // when kube-apiserver was last killed
}

// Start starts a server, which stops with the test. If the test fails, it prints the tail of the
// server's logs.
func Start(tb testing.TB, options Options) *Server {
	tb.Helper()
	s, err := newServer(tb, options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.showLogsOfFailed(tb)
		if err := s.end(); err != nil {
			tb.Errorf("ending the API server: %v", err)
		}
	})
	if err := s.start(tb.Context()); err != nil {
		tb.Fatalf("starting Kubernetes %s: %v", s.Version(), err)
	}
	return s
}

// newServer prepares a server: binaries, certificates, ports. Call end even if it never starts.
func newServer(tb testing.TB, options Options) (*Server, error) {
	tb.Helper()
	if options.Version == "" {
		all := Versions(tb)
		options.Version = all[len(all)-1]
	}
	s := &Server{options: options}
	var err error
	if s.binaries, err = binaries(tb, options.Version); err != nil {
		return nil, err
	}
	if s.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	for _, p := range []*port{&s.port, &s.etcdPort, &s.peerPort} {
		if *p, err = reservePort(); err != nil {
			return nil, err
		}
	}
	if s.admin, err = s.configFor(adminUser, []string{mastersGroup}); err != nil {
		return nil, err
	}
	if s.harness, err = s.configFor(harnessUser, []string{mastersGroup}); err != nil {
		return nil, err
	}
	if s.directory, err = newDirectory(); err != nil {
		return nil, err
	}
	if err := s.writeFiles(); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

// binaries finds the binaries of a version in the testbed's cache, or builds them.
func binaries(tb testing.TB, version string) (builder.Binaries, error) {
	tb.Helper()
	from, err := cached(tb)
	if err != nil {
		return builder.Binaries{}, err
	}
	return from.Binaries(tb.Context(), version)
}

// cached returns the builder with the testbed's cache.
func cached(tb testing.TB) (*builder.Builder, error) {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("finding the testbed's cache: %w", err)
	}
	return builder.New(filepath.Join(cache, "refit-testbed"), progress.New(logWriter{tb})), nil
}

// start starts both processes and waits until the server is usable.
func (s *Server) start(ctx context.Context) error {
	// The processes outlive the context of a test: its cleanups may still need the server.
	alive := context.WithoutCancel(ctx)
	if err := s.startEtcd(alive); err != nil {
		return err
	}
	if err := s.startAPIServer(alive); err != nil {
		return err
	}
	return s.waitReady(ctx)
}

// end kills both processes and removes their data.
func (s *Server) end() error {
	for _, p := range []*process{s.apiserver, s.etcd} {
		if p != nil {
			p.kill()
		}
	}
	return errors.Join(s.port.release(), s.etcdPort.release(), s.peerPort.release(), s.remove())
}

// Stop kills kube-apiserver, as a power cut does; etcd keeps running. Its address refuses
// connections until Restart.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	s.apiserver.kill()
	s.stopped = time.Now()
}

// Restart starts kube-apiserver again, at the same address and with the same data, with or without
// a previous Stop.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Stop(tb)
	if err := s.startAPIServer(context.WithoutCancel(tb.Context())); err != nil {
		tb.Fatal(err)
	}
	if err := s.waitReady(tb.Context()); err != nil {
		tb.Fatalf("restarting Kubernetes %s: %v", s.Version(), err)
	}
}

// Freeze stops kube-apiserver, or its etcd, until the returned function is called. Connections stay
// open, and nothing is answered.
func (s *Server) Freeze(tb testing.TB, etcd bool) (thaw func()) {
	tb.Helper()
	p := s.apiserver
	if etcd {
		p = s.etcd
	}
	if err := p.freeze(); err != nil {
		tb.Fatal(err)
	}
	thaw = func() {
		if err := p.thaw(); err != nil {
			tb.Error(err)
		}
	}
	tb.Cleanup(thaw) // before the server is ended
	return thaw
}

// Version returns the server's version of Kubernetes, such as v1.36.3.
func (s *Server) Version() string { return s.options.Version }

// Kubectl returns the path of the kubectl of the server's version. Set KUBECACHEDIR to a directory
// of the test: kubectl caches discovery by the server's port, and a later server may have the same
// port.
func (s *Server) Kubectl() string { return filepath.Join(s.binaries.Bin, "kubectl") }

func (s *Server) showLogsOfFailed(tb testing.TB) {
	tb.Helper()
	if !tb.Failed() {
		return
	}
	for _, p := range []*process{s.etcd, s.apiserver} {
		if p != nil {
			tb.Log(p.tail())
		}
	}
}

type logWriter struct{ tb testing.TB }

func (w logWriter) Write(text []byte) (int, error) {
	w.tb.Helper()
	w.tb.Log(strings.TrimRight(string(text), "\n"))
	return len(text), nil
}
