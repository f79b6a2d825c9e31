package packages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// stopTimeout is how long dpkg may run after the agent received a signal: a finished dpkg needs no
// fix afterwards.
const stopTimeout = 30 * time.Second

// maxTail bounds the output that a failure keeps.
const maxTail = 4 << 10

// environment is the same for every process, whatever the agent was started with.
//
// With SYSTEMD_OFFLINE, systemctl ignores start, stop, restart and daemon-reload in maintainer
// scripts, while enable still works on files: the agent's own steps control services. Unlike a
// policy-rc.d, a kill cannot leave it behind.
func environment(more ...string) []string {
	return append([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", "DEBCONF_NONINTERACTIVE_SEEN=true", "SYSTEMD_OFFLINE=1",
	}, more...)
}

// query runs dpkg-query, which changes nothing.
func (d deb) query(ctx context.Context, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, "dpkg-query", append([]string{"--admindir=" + d.admin}, args...)...))
}

// dpkg runs dpkg. The caller holds the lock.
func (d deb) dpkg(ctx context.Context, stdin string, args ...string) error {
	cmd := exec.CommandContext(ctx, "dpkg", append(append([]string{}, d.flags...), args...)...)
	cmd.Env = environment("DPKG_FRONTEND_LOCKED=true")
	cmd.Cancel = func() error { return nil } // only WaitDelay ends it
	cmd.WaitDelay = stopTimeout
	// Signals to the agent's process group do not reach dpkg.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var log tail
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return &failedRun{err: err, log: log.String()}
	}
	return nil
}

// output returns the standard output of a process that changes nothing outside of Refit's own
// directories.
func output(cmd *exec.Cmd) (string, error) {
	if cmd.Env == nil {
		cmd.Env = environment()
	}
	cmd.WaitDelay = 10 * time.Second // a busy host needs time to read the output of a process that has ended
	var out bytes.Buffer
	var log tail
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return out.String(), &failedRun{err: err, log: log.String()}
	}
	return out.String(), nil
}

// failedRun is the error of a process, with the end of its output.
type failedRun struct {
	err error
	log string
}

func (f *failedRun) Error() string {
	lines := strings.Split(strings.TrimSpace(f.log), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Sprintf("%v: %s", f.err, last)
	}
	return f.err.Error()
}

func (f *failedRun) Unwrap() error { return f.err }

// exitCode returns the exit code of a process that failed, and -1 for every other error.
func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

func logOf(err error) string {
	if f, ok := errors.AsType[*failedRun](err); ok {
		return f.log
	}
	return ""
}

// wrap adds what failed. A node.Failure already has it, and a remedy.
func wrap(err error, format string, args ...any) error {
	if _, ok := errors.AsType[*node.Failure](err); ok {
		return err
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// lastOf returns the end of a text.
func lastOf(text string) string {
	var t tail
	_, _ = t.Write([]byte(text))
	return t.String()
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.kept), "") }
