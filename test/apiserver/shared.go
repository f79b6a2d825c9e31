package apiserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared are the servers of all tests of this process, by their options.
var shared struct {
	sync.Mutex
	servers map[string]*Server // nil unless Main runs
}

// Main runs the tests of a package whose tests call Shared, and then stops the servers that they
// shared:
//
//	func TestMain(m *testing.M) { os.Exit(apiserver.Main(m)) }
func Main(m *testing.M) int {
	shared.servers = map[string]*Server{}
	code := m.Run()
	for _, s := range shared.servers {
		if err := s.end(); err != nil {
			fmt.Fprintf(os.Stderr, "ending the API server: %v\n", err)
			code = 1
		}
	}
	return code
}

// Shared returns a server that lives until all tests of the package have ended; the first test that
// needs these options starts it. Tests that share a server use distinct names for their objects and
// users, and never stop it.
func Shared(tb testing.TB, options Options) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.servers == nil {
		tb.Fatal("nobody would end a shared server: the package needs a TestMain that calls apiserver.Main")
	}
	key := fmt.Sprintf("%+v", options)
	if shared.servers[key] == nil {
		s, err := startShared(tb, options)
		if err != nil {
			tb.Fatal(err)
		}
		shared.servers[key] = s
	}
	s := shared.servers[key]
	tb.Cleanup(func() { s.showLogsOfFailed(tb) })
	return s
}

func startShared(tb testing.TB, options Options) (*Server, error) {
	tb.Helper()
	s, err := newServer(tb, options)
	if err != nil {
		return nil, err
	}
	if err := s.start(context.WithoutCancel(tb.Context())); err != nil {
		return nil, errors.Join(fmt.Errorf("starting Kubernetes %s: %w", s.Version(), err), s.end())
	}
	return s, nil
}
