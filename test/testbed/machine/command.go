package machine

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// Run runs a command on this machine. The command dies with the testbed, so that a killed run
// leaves nothing running.
func Run(ctx context.Context, name string, args ...string) error {
	_, err := Output(ctx, name, args...)
	return err
}

// Output is Run that returns the standard output.
func Output(ctx context.Context, name string, args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := RunBound(cmd); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %w%s", strings.Join(append([]string{name}, args...), " "), err, tail(errs.String()))
	}
	return out.Bytes(), nil
}

// RunBound runs cmd. The kernel kills it if the testbed dies first.
func RunBound(cmd *exec.Cmd) error {
	return runBound(cmd, (*exec.Cmd).Start)
}

func runBound(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	// The kernel sends the signal when the *thread* that forked ends, so it must not end before
	// Wait.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := start(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// tail returns the last lines of error output as a suffix of an error message.
func tail(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return ": " + strings.Join(lines[max(0, len(lines)-8):], "\n")
}
