package apiserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// tailLines is how many lines of a process's log a failure shows.
const tailLines = 40

// A process runs beside the test, its output in a file.
type process struct {
	pid    int
	log    string
	cancel context.CancelFunc
	done   chan struct{} // closed when the process has exited
	err    error         // the result; read it after done
}

// startProcess starts a process that lives until it is killed, and not longer than this one: the
// kernel kills it when the test dies for any reason.
func startProcess(ctx context.Context, log, binary string, args ...string) (*process, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", filepath.Base(binary), err)
	}
	defer output.Close()
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

	p := &process{log: log, cancel: cancel, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel sends Pdeathsig when the *thread* that started the child exits, so this
		// goroutine keeps its thread until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		cancel()
		return nil, fmt.Errorf("cannot start %s: %w", filepath.Base(binary), err)
	}
	return p, nil
}

// kill kills the process and returns when it is gone.
func (p *process) kill() {
	p.cancel()
	<-p.done
}

// freeze stops the process until it is thawed: it accepts connections and answers nothing.
func (p *process) freeze() error { return syscall.Kill(p.pid, syscall.SIGSTOP) }

func (p *process) thaw() error { return syscall.Kill(p.pid, syscall.SIGCONT) }

// tail returns the end of the process's output.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return fmt.Sprintf("the end of %s:\n  | %s", filepath.Base(p.log), strings.Join(lines, "\n  | "))
}
