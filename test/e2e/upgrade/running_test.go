//go:build e2e

package upgrade

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// running is a refit command that runs in the background.
type running struct {
	cmd   *exec.Cmd
	begun time.Time
	said  said
	ended chan error
}

// start starts a refit command and logs each line of its output.
func (s *site) start(t *testing.T, args ...string) *running {
	t.Helper()
	// The command outlives the test's own context only until its cleanup.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &running{begun: time.Now(), ended: make(chan error, 1)}
	r.said.line = func(line string) { t.Logf("%6.1f s  refit %s: %s", time.Since(r.begun).Seconds(), args[0], line) }
	r.cmd = exec.CommandContext(ctx, s.Refit, slices.Concat(args, []string{"--kubeconfig", s.KubeconfigFile()})...)
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, r.cmd.Start())
	go func() { r.ended <- r.cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		r.ended <- <-r.ended
	})
	return r
}

// wait waits until the command exits, which must be with this code.
func (r *running) wait(t *testing.T, deadline time.Duration, code int) {
	t.Helper()
	select {
	case err := <-r.ended:
		r.ended <- err
		ended, failed := errors.AsType[*exec.ExitError](err)
		switch {
		case err != nil && !failed:
			t.Fatal(err)
		case failed && ended.ExitCode() != code, !failed && code != exitDone:
			t.Fatalf("the command ended with %v, want exit code %d", err, code)
		}
	case <-time.After(deadline):
		t.Fatalf("the command did not end within %s", deadline)
	}
}

// lasts waits for a time, or until the command exits by itself.
func (r *running) lasts(most time.Duration) (ended bool) {
	select {
	case err := <-r.ended:
		r.ended <- err
		return true
	case <-time.After(most):
		return false
	}
}

// interrupt sends Ctrl-C.
func (r *running) interrupt(t *testing.T) {
	t.Helper()
	must(t, r.cmd.Process.Signal(os.Interrupt))
}

// kill ends the command abruptly, as the loss of its machine does.
func (r *running) kill(t *testing.T) {
	t.Helper()
	must(t, r.cmd.Process.Kill())
	r.ended <- <-r.ended
}

// said is the output of a command so far.
type said struct {
	line func(string)

	mu   sync.Mutex
	text bytes.Buffer
	half string
}

func (s *said) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(text)
	whole := strings.Split(s.half+string(text), "\n")
	s.half = whole[len(whole)-1]
	for _, line := range whole[:len(whole)-1] {
		s.line(line)
	}
	return len(text), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
