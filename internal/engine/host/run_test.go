package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestCommandGetsOnlyTheGivenEnvironment(t *testing.T) {
	t.Setenv("SECRET", "canary")
	out, err := Run(t.Context(), []string{"KUBEADM_INIT_DRYRUN_DIR=/x"}, "env")
	must(t, err)
	if !strings.Contains(out.Stdout, "KUBEADM_INIT_DRYRUN_DIR=/x\n") || !strings.Contains(out.Stdout, "PATH="+Path+"\n") || strings.Contains(out.Stdout, "canary") {
		t.Errorf("%s", out.Stdout)
	}
}

func TestFailedCommand(t *testing.T) {
	out, err := Run(t.Context(), nil, "ls", "/no/such/directory")
	var failed *RunError
	if !errors.As(err, &failed) || failed.Code != 2 || !strings.Contains(failed.Tail, "No such file") || failed.Tail != out.Combined || out.Stdout != "" {
		t.Fatalf("%+v %+v", err, out)
	}
	if text := err.Error(); !strings.HasPrefix(text, "ls /no/such/directory: exit status 2: ") || strings.Contains(text, "\n") {
		t.Errorf("it reads %q", text)
	}
	if _, err := Run(t.Context(), nil, "no-such-program"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := Run(t.Context(), nil); err == nil {
		t.Error("nothing was run")
	}
}

func TestCommandAndItsChildrenEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	out, err := Run(ctx, nil, "sh", "-c", "sleep 1000 & echo $!; wait")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Fatalf("%v after %v", err, time.Since(began))
	}
	child, err := strconv.Atoi(strings.TrimSpace(out.Stdout))
	must(t, err)
	for range 500 {
		if gone(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d still runs", child)
}

func gone(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(text), ") Z ") || errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

func TestServiceThatKeepsTheOutputOpenDoesNotFailTheCommand(t *testing.T) {
	out, err := Run(t.Context(), nil, "sh", "-c", "setsid sleep 5 & echo done")
	if err != nil || out.Stdout != "done\n" {
		t.Errorf("%q %v", out.Stdout, err)
	}
}

func TestEndOfALongOutputIsKept(t *testing.T) {
	out, err := Run(t.Context(), nil, "seq", "1000000")
	must(t, err)
	for name, part := range map[string]struct {
		text string
		most int
	}{"stdout": {out.Stdout, maxStdout}, "combined": {out.Combined, maxCombined}} {
		first, _, _ := strings.Cut(part.text, "\n")
		if !strings.HasSuffix(part.text, "\n999999\n1000000\n") || len(part.text) > part.most || len(part.text) < part.most-10 || len(first) != 6 {
			t.Errorf("%s: %d bytes, first line %q", name, len(part.text), first)
		}
	}
}

func TestBinariesAreFoundInFixedPathsOnly(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine")
	put(t, mine, "#!/bin/true\n", 0o755)
	put(t, filepath.Join(dir, "text"), "", 0o644)
	t.Setenv("PATH", dir)
	for name, want := range map[string]bool{"mine": false, "../bin/ls": false, "": false, "ls": true, mine: true, filepath.Join(dir, "text"): false, dir: false} {
		if path, err := LookPath(name); (err == nil) != want {
			t.Errorf("%q: %q %v", name, path, err)
		}
	}
	if path, err := LookPath("no-such-program", "ls"); err != nil || filepath.Base(path) != "ls" {
		t.Errorf("%q %v", path, err)
	}
}

// A killed agent must not leave a child process behind that changes the host concurrently with the
// next agent.
func TestCommandEndsWithTheAgent(t *testing.T) {
	if os.Getenv("REFIT_TEST_RUN") != "" { // The agent to kill.
		_, err := Run(t.Context(), nil, "sleep", "1000")
		t.Fatal(err)
	}
	agent := exec.Command(os.Args[0], "-test.run=^TestCommandEndsWithTheAgent$")
	agent.Env = append(os.Environ(), "REFIT_TEST_RUN=1")
	must(t, agent.Start())
	children := "/proc/" + strconv.Itoa(agent.Process.Pid) + "/task/*/children"
	var child int
	for range 1000 {
		files, err := filepath.Glob(children)
		must(t, err)
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				child = pid
			}
		}
		if comm, _ := os.ReadFile("/proc/" + strconv.Itoa(child) + "/comm"); string(comm) == "sleep\n" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	must(t, agent.Process.Kill())
	_ = agent.Wait()
	if child == 0 {
		t.Fatal("the program never ran")
	}
	for range 500 {
		if gone(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = unix.Kill(child, unix.SIGKILL)
	t.Error("the program outlived the agent")
}
