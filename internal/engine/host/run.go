package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Path is where binaries are searched, independent of the agent's environment.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"

const (
	maxStdout   = 4 << 20
	maxCombined = 64 << 10
)

// Output is the end of a command's output.
type Output struct {
	Stdout   string // at most 4 MiB
	Combined string // both streams, at most 64 KiB
}

// RunError is returned for a command that failed.
type RunError struct {
	Argv []string
	Code int    // -1 if it was killed or did not start
	Tail string // the end of both streams
	Err  error
}

func (e *RunError) Error() string {
	text := strings.Join(e.Argv, " ") + ": " + e.Err.Error()
	lines := strings.Split(strings.TrimSpace(e.Tail), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		text += ": " + refitv1alpha1.Clip(last, refitv1alpha1.MaxMessage)
	}
	return text
}

func (e *RunError) Unwrap() error { return e.Err }

// Run runs a command without input and with no environment except env. The end of the context or of
// the agent kills its whole process group.
func Run(ctx context.Context, env []string, argv ...string) (Output, error) {
	if len(argv) == 0 {
		return Output{}, errors.New("no command to run")
	}
	binary, err := LookPath(argv[0])
	if err != nil {
		return Output{}, &RunError{Argv: argv, Code: -1, Err: err}
	}
	cmd := exec.CommandContext(ctx, binary, argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=" + Path, "HOME=/root", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"}, env...)
	stdout, combined := &tail{most: maxStdout}, &tail{most: maxCombined}
	cmd.Stdout, cmd.Stderr = both{stdout, combined}, combined
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	cmd.Cancel = func() error {
		if err := unix.Kill(-cmd.Process.Pid, unix.SIGKILL); !errors.Is(err, unix.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	// A service that a package starts may keep the pipes open.
	cmd.WaitDelay = 2 * time.Second

	// Pdeathsig applies to the thread that started the process, which must not exit first.
	runtime.LockOSThread()
	err = cmd.Run()
	runtime.UnlockOSThread()

	out := Output{Stdout: stdout.String(), Combined: combined.String()}
	if err == nil || (errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil) {
		return out, nil
	}
	failed := &RunError{Argv: argv, Code: -1, Tail: out.Combined, Err: err}
	if cmd.ProcessState != nil {
		failed.Code = cmd.ProcessState.ExitCode()
	}
	if ctx.Err() != nil {
		failed.Err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return out, failed
}
