package kubeadm

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"
	maxOutput  = 64 << 10
	// How long the children of a killed process may keep its output open.
	afterKill = 5 * time.Second
)

// output is the end of the output of a process.
type output struct {
	Stdout   string
	Combined string
}

// run runs kubeadm with a fixed environment in its own process group, which is killed when the
// context ends.
func (k Kubeadm) run(ctx context.Context, env []string, args ...string) (output, error) {
	return runBinary(ctx, env, k.Path, args...)
}

func runBinary(ctx context.Context, env []string, path string, args ...string) (output, error) {
	var stdout, combined tail
	command := exec.CommandContext(ctx, path, args...)
	command.Env = append([]string{searchPath, "HOME=/root", "LC_ALL=C"}, env...)
	command.Dir = "/"
	command.Stdout = io.MultiWriter(&stdout, &combined)
	command.Stderr = &combined
	ownGroup(command)
	command.WaitDelay = afterKill
	err := command.Run()
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return output{Stdout: stdout.String(), Combined: combined.String()}, err
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex // standard output and standard error are written by two goroutines
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxOutput; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return node.Redact(strings.ToValidUTF8(string(t.text), "?"))
}
