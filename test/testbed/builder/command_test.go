package builder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// orphanMaker makes the test binary start a tool and report its process ID.
const orphanMaker = "REFIT_TEST_ORPHAN_MAKER"

func TestMain(m *testing.M) {
	if os.Getenv(orphanMaker) != "" {
		sleep := command{argv: []string{"sleep", "600"}, started: func(pid int) { fmt.Println(pid) }}
		_ = sleep.run(context.Background(), io.Discard, io.Discard, io.Discard)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestToolsDieWithTheProcess(t *testing.T) {
	us := exec.Command(os.Args[0], "-test.run=^$")
	us.Env = append(os.Environ(), orphanMaker+"=1")
	out, err := us.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	var line [32]byte
	n, err := out.Read(line[:])
	if err != nil {
		t.Fatal(err)
	}
	tool, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Process.Kill(); err != nil { // leaves no time to clean up
		t.Fatal(err)
	}
	_ = us.Wait()
	waitUntil(t, func() bool { return gone(tool) })
}

func TestCanceledToolIsKilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := time.Now()
	tool := 0
	err := command{argv: []string{"sleep", "600"}, started: func(pid int) { tool = pid; cancel() }}.run(ctx, io.Discard, io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled tool: %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second || !gone(tool) {
		t.Errorf("after %s the tool is gone: %t", took, gone(tool))
	}
}

func TestErrorNamesMissingTool(t *testing.T) {
	err := command{argv: []string{"no-such-tool-of-the-testbed", "x"}}.run(t.Context(), io.Discard, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no-such-tool-of-the-testbed is not installed") {
		t.Errorf("got %v", err)
	}
}

// gone reports whether a process does not exist, or is a zombie.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}
