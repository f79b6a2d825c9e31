package builder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// killDelay is how long the output of a killed tool may stay open.
const killDelay = 5 * time.Second

// A command is one call of a tool, as argv: there is never a shell between.
type command struct {
	argv []string
	dir  string   // working directory; ours if empty
	env  []string // added to the environment
	// started, if set, receives the process ID.
	started func(pid int)
	// grouped runs it in its own cgroup, which is removed afterwards: systemd-nspawn creates
	// sibling cgroups and leaves them behind.
	grouped bool
}

// run runs the command and waits for it. The tool is killed with its process group when ctx ends,
// and by the kernel when this process dies.
func (c command) run(ctx context.Context, stdout, stderr, log io.Writer) error {
	fmt.Fprintf(log, "+ %s\n", strings.Join(c.argv, " "))
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killDelay

	// The kernel sends Pdeathsig when the *thread* that started the child ends, so this goroutine
	// keeps its thread until the child has exited.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.startAndWait(cmd)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: stopped: %w", c.name(), ctx.Err())
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed: %w", c.argv[0], err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name(), err)
	}
	return nil
}

func (c command) startAndWait(cmd *exec.Cmd) (err error) {
	start := cmd.Start
	if c.grouped {
		group, failed := machine.NewBuildCgroup()
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, group.Kill(killDelay), group.Remove()) }()
		start = func() error { return group.Start(cmd) }
	}
	if err := start(); err != nil {
		return err
	}
	if c.started != nil {
		c.started(cmd.Process.Pid)
	}
	return cmd.Wait()
}

// name returns the tool and its first argument: "go build", "dpkg-deb --build".
func (c command) name() string {
	name := filepath.Base(c.argv[0])
	if len(c.argv) > 1 {
		name += " " + c.argv[1]
	}
	return name
}
