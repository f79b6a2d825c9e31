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

// grace is how long dpkg may go on after the agent was told to stop. It is better to let it end than to mend afterwards.
const grace = 30 * time.Second

// maxTail bounds what of an output is kept for a person.
const maxTail = 4 << 10

// environment is the same for every program, whatever the agent was started with.
//
// SYSTEMD_OFFLINE makes systemctl ignore what a package's scripts ask of it (start, stop, restart, daemon-reload), while enable still works on files: services
// are the agent's own steps. Unlike a policy-rc.d it cannot be left behind.
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

// dpkg runs dpkg itself. The caller holds the lock.
func (d deb) dpkg(ctx context.Context, stdin string, args ...string) error {
	cmd := exec.CommandContext(ctx, "dpkg", append(append([]string{}, d.flags...), args...)...)
	cmd.Env = environment("DPKG_FRONTEND_LOCKED=true")
	cmd.Cancel = func() error { return nil } // Only WaitDelay ends it.
	cmd.WaitDelay = grace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // A signal to the agent's group is not one to dpkg.
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

// output runs a program that changes nothing outside of our own directories, and returns what it says.
func output(cmd *exec.Cmd) (string, error) {
	if cmd.Env == nil {
		cmd.Env = environment()
	}
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	var log tail
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return out.String(), &failedRun{err: err, log: log.String()}
	}
	return out.String(), nil
}

// failedRun is a program that did not succeed, with the end of what it said.
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

// exitCode is that of a program that ran and failed; -1 for every other error.
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

// wrap says what was being done. A failure that is told for a person already stays so.
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

// lastOf is the end of a text.
func lastOf(text string) string {
	var t tail
	_, _ = t.Write([]byte(text))
	return t.String()
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.kept), "") }
