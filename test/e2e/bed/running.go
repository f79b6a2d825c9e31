package bed

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

// Running is a refit command that runs in the background.
type Running struct {
	Cmd     *exec.Cmd
	Started time.Time
	Output  Output
	ended   chan error
}

// StartRefit starts a refit command and logs each line of its output.
func (s *Site) StartRefit(t *testing.T, args ...string) *Running {
	t.Helper()
	// The command outlives the test's own context only until its cleanup.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &Running{Started: time.Now(), ended: make(chan error, 1)}
	r.Output.Line = func(line string) { t.Logf("%6.1f s  refit %s: %s", time.Since(r.Started).Seconds(), args[0], line) }
	r.Cmd = exec.CommandContext(ctx, s.Refit, slices.Concat(args, []string{"--kubeconfig", s.KubeconfigFile()})...)
	r.Cmd.Stdout, r.Cmd.Stderr = &r.Output, &r.Output
	r.Cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	Must(t, r.Cmd.Start())
	go func() { r.ended <- r.Cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		r.ended <- <-r.ended
	})
	return r
}

// Wait waits until the command exits, which must be with this code.
func (r *Running) Wait(t *testing.T, deadline time.Duration, code int) {
	t.Helper()
	select {
	case err := <-r.ended:
		r.ended <- err
		ended, failed := errors.AsType[*exec.ExitError](err)
		switch {
		case err != nil && !failed:
			t.Fatal(err)
		case failed && ended.ExitCode() != code, !failed && code != ExitDone:
			t.Fatalf("the command ended with %v, want exit code %d", err, code)
		}
	case <-time.After(deadline):
		t.Fatalf("the command did not end within %s", deadline)
	}
}

// Lasts waits for a time, or until the command exits by itself.
func (r *Running) Lasts(most time.Duration) (ended bool) {
	select {
	case err := <-r.ended:
		r.ended <- err
		return true
	case <-time.After(most):
		return false
	}
}

// Interrupt sends Ctrl-C.
func (r *Running) Interrupt(t *testing.T) {
	t.Helper()
	Must(t, r.Cmd.Process.Signal(os.Interrupt))
}

// Kill ends the command abruptly, as the loss of its machine does.
func (r *Running) Kill(t *testing.T) {
	t.Helper()
	Must(t, r.Cmd.Process.Kill())
	r.ended <- <-r.ended
}

// Output is the output of a command so far.
type Output struct {
	// Line is called with each complete line.
	Line func(string)

	mu   sync.Mutex
	text bytes.Buffer
	half string
}

func (o *Output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(text)
	whole := strings.Split(o.half+string(text), "\n")
	o.half = whole[len(whole)-1]
	for _, line := range whole[:len(whole)-1] {
		o.Line(line)
	}
	return len(text), nil
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
