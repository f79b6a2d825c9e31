package kubeadm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

const (
	searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"
	keepOutput = 64 << 10
	afterKill  = 5 * time.Second // how long a killed program's children may hold its output open
)

// output is the end of what a program said.
type output struct {
	Stdout   string
	Combined string
}

// run runs kubeadm with a fixed environment, in a process group of its own that ends with the context.
func (k Kubeadm) run(ctx context.Context, env []string, args ...string) (output, error) {
	return runProgram(ctx, env, k.Path, args...)
}

func runProgram(ctx context.Context, env []string, path string, args ...string) (output, error) {
	var stdout, combined tail
	command := exec.CommandContext(ctx, path, args...)
	command.Env = append([]string{searchPath, "HOME=/root", "LC_ALL=C"}, env...)
	command.Dir = "/"
	command.Stdout = io.MultiWriter(&stdout, &combined)
	command.Stderr = &combined
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = afterKill
	err := command.Run()
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return output{Stdout: stdout.String(), Combined: combined.String()}, err
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex // standard output and standard error come from two goroutines
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - keepOutput; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(redact(bytes.ToValidUTF8(t.text, []byte("?"))))
}

// secrets are what kubeadm could say that nobody else may read: keys, bootstrap tokens, certificate keys, bearer tokens.
var secrets = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)` +
	`|\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\b[0-9a-f]{64}\b|\beyJ[\w-]+\.[\w-]+\.[\w-]+|(?i:bearer )\S+|(?:client-key-data|token): \S+`)

func redact(text []byte) []byte { return secrets.ReplaceAll(text, []byte("[redacted]")) }
