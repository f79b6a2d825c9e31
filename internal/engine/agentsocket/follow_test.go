package agentsocket_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/agentsocket"
)

const deadline = 20 * time.Second

func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "refit") //nolint:usetesting // the path of a unix socket has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "agent.sock")
}

// answer serves one handler on a socket until stop is called.
func answer(t *testing.T, path string, handler http.HandlerFunc) (stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: deadline}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return func() { _ = server.Close() }
}

// sends answers events and keeps the stream open until the client goes.
func sends(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, event := range events {
			fmt.Fprint(w, event)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func status(sequence int) string {
	return fmt.Sprintf("event: status\ndata: {\"sequence\":%d}\n\n", sequence)
}

// following follows a socket and passes on what is reported.
type following struct {
	documents chan int64
	lost      chan error
	found     chan bool
	alive     chan time.Time
	ended     chan error
}

func follow(t *testing.T, path string) *following {
	t.Helper()
	f := &following{make(chan int64, 100), make(chan error, 100), make(chan bool, 100), make(chan time.Time, 100), make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	follower := &agentsocket.Follower{
		Socket: path,
		Report: func(s *cliv1alpha1.HostStatus) error {
			if s.Sequence == 99 {
				return errors.New("cannot write")
			}
			f.documents <- s.Sequence
			return nil
		},
		Alive: func(at time.Time) { f.alive <- at }, Lost: func(err error) { f.lost <- err }, Found: func() { f.found <- true },
	}
	go func() { f.ended <- follower.Follow(ctx) }()
	return f
}

func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(deadline):
		t.Fatalf("%s: not within %s", what, deadline)
		panic("unreachable")
	}
}

func TestAgentThatIsRestartedIsFollowedAgain(t *testing.T) {
	path := socketPath(t)
	f := follow(t, path)
	if err := await(t, "no agent", f.lost); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no agent: %v", err)
	}
	for restart := range 3 {
		stop := answer(t, path, sends(status(restart), "event: heartbeat\ndata: {\"observedAt\":\"2026-10-01T08:00:00Z\"}\n\n"))
		await(t, "connected", f.found)
		if got := await(t, "document", f.documents); got != int64(restart) {
			t.Errorf("document %d of agent %d", got, restart)
		}
		if at := await(t, "heartbeat", f.alive); at.Year() != 2026 {
			t.Errorf("heartbeat at %s", at)
		}
		stop()
		_ = await(t, "the agent is gone", f.lost)
	}
	if len(f.lost) > 0 {
		t.Errorf("reported more than once: %v", <-f.lost)
	}
}

func TestNewerEventsAreIgnored(t *testing.T) {
	path := socketPath(t)
	answer(t, path, sends(": comment\n\nevent: backup\ndata: x\n\n", status(7)))
	if got := await(t, "document", follow(t, path).documents); got != 7 {
		t.Errorf("document %d", got)
	}
}

func TestFollowEnds(t *testing.T) {
	path := socketPath(t)
	answer(t, path, sends(status(99)))
	if err := await(t, "report failed", follow(t, path).ended); err == nil || err.Error() != "cannot write" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	nobody := &agentsocket.Follower{Socket: socketPath(t), Lost: func(error) {}}
	if err := nobody.Follow(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the context has ended: %v", err)
	}
}

func TestErrorsOfTheAgentAreReported(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"refused": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"invalid": sends("event: status\ndata: {\n\n"),
		"too long": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "event: status\ndata: %s\n\n", make([]byte, 2<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := socketPath(t)
			answer(t, path, handler)
			_ = await(t, name, follow(t, path).lost)
		})
	}
}

func TestUserWithoutPermissionIsTold(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may connect to every socket")
	}
	path := socketPath(t)
	answer(t, path, sends(status(1)))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := await(t, "refused", follow(t, path).ended); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}
