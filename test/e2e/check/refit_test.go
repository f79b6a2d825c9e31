//go:build e2e

package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Exit codes of refit.
const (
	exitDone    = 0
	exitBlocked = 3
)

// refit is the binary under test.
type refit struct {
	program, kubeconfig string

	// Duration and number of requests of each check.
	seconds, requests []float64
}

// buildRefit builds the binary from this source.
func buildRefit(t *testing.T, kubeconfig string) *refit {
	t.Helper()
	program := filepath.Join(t.TempDir(), "refit")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../../cmd/refit").CombinedOutput()
	if err != nil {
		t.Fatalf("building refit: %v: %s", err, out)
	}
	return &refit{program: program, kubeconfig: kubeconfig}
}

// run runs a command and returns its output and exit code.
func (r *refit) run(ctx context.Context, args ...string) (out []byte, code int, err error) {
	var said, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfig)
	cmd.Stdout, cmd.Stderr = &said, &errs
	err = cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == exitBlocked {
		return said.Bytes(), exitBlocked, nil
	}
	if err != nil {
		return said.Bytes(), cmd.ProcessState.ExitCode(), fmt.Errorf("refit %s: %w: %s%s", args[0], err, errs.String(), said.String())
	}
	return said.Bytes(), exitDone, nil
}

// answer is the part of the output of `refit check` and `refit plan` that the tests read.
type answer struct {
	Cluster struct {
		Cost struct {
			Requests int `json:"requests"`
		} `json:"cost"`
	} `json:"cluster"`
	Blocked  bool      `json:"blocked"`
	Findings []finding `json:"findings"`
	Plan     *struct {
		Hash string `json:"hash"`
	} `json:"plan"`
}

type finding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Blocks   bool   `json:"blocks"`
	Object   string `json:"object"`
	Message  string `json:"message"`
}

func (f finding) String() string {
	return fmt.Sprintf("%s %s (%s): %s", f.Severity, f.Check, f.Object, f.Message)
}

// check runs `refit check` and records its duration and requests.
func (r *refit) check(ctx context.Context, to string) (answer, error) {
	begun := time.Now()
	seen, err := r.ask(ctx, "check", "--to", to)
	if err == nil {
		r.seconds = append(r.seconds, time.Since(begun).Seconds())
		r.requests = append(r.requests, float64(seen.Cluster.Cost.Requests))
	}
	return seen, err
}

// ask runs a command that returns findings. Its exit code must match them.
func (r *refit) ask(ctx context.Context, args ...string) (answer, error) {
	var seen answer
	out, code, err := r.run(ctx, append(args, "-o", "json")...)
	if err != nil {
		return seen, err
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		return seen, fmt.Errorf("refit %s printed no JSON: %w: %s", args[0], err, out)
	}
	if blocked := code == exitBlocked; blocked != seen.Blocked || blocked != (len(seen.blocks()) > 0) {
		return seen, fmt.Errorf("refit %s ended with %d, says blocked: %t, and %d findings block", args[0], code, seen.Blocked, len(seen.blocks()))
	}
	return seen, nil
}

// blocks returns the blocking findings.
func (a *answer) blocks() []finding {
	var found []finding
	for _, f := range a.Findings {
		if f.Blocks {
			found = append(found, f)
		}
	}
	return found
}
