package machine

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// onEachKind runs a test in a cgroup of all hierarchies, and in one of the unified hierarchy alone:
// so machines with v1 test most of what nodes on v2 need, too.
func onEachKind(t *testing.T, run func(t *testing.T, group Cgroup)) {
	t.Helper()
	t.Run("all hierarchies", func(t *testing.T) { run(t, newGroup(t)) })
	t.Run("v2 only", func(t *testing.T) { run(t, newGroupIn(t, func(h hierarchy) bool { return h.name == "" })) })
}

// newGroup creates a cgroup for one test and removes it with everything in it.
func newGroup(t *testing.T) Cgroup {
	t.Helper()
	return newGroupIn(t, func(hierarchy) bool { return true })
}

func newGroupIn(t *testing.T, in func(hierarchy) bool) Cgroup {
	t.Helper()
	needRoot(t)
	group, err := NewCgroup("unit-test-"+strconv.Itoa(os.Getpid()), "node")
	must(t, err)
	group.hierarchies = slices.DeleteFunc(group.hierarchies, func(h hierarchy) bool { return !in(h) })
	if len(group.hierarchies) == 0 {
		t.Skip("this machine has no unified hierarchy")
	}
	must(t, group.Create())
	t.Cleanup(func() {
		must(t, group.Kill(10*time.Second))
		must(t, group.Remove())
	})
	return group
}

func TestStartedProcessIsInTheCgroupAndTheStarterIsNot(t *testing.T) {
	onEachKind(t, startedProcessIsInTheCgroup)
}

func startedProcessIsInTheCgroup(t *testing.T, group Cgroup) {
	t.Helper()
	before, err := os.ReadFile("/proc/self/cgroup")
	must(t, err)
	cmd := exec.Command("sleep", "60")
	must(t, group.Start(cmd))
	go func() { _ = cmd.Wait() }()

	child, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/cgroup")
	must(t, err)
	for line := range strings.Lines(string(child)) {
		if (!group.onlyV2() || strings.HasPrefix(line, "0::")) && !strings.Contains(line, CgroupRoot) {
			t.Errorf("the child is outside the cgroup: %s", line)
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	must(t, err)
	for _, thread := range threads {
		text, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/cgroup")
		if err == nil && strings.Contains(string(text), CgroupRoot) {
			t.Errorf("thread %s of the starter stayed in the cgroup", thread.Name())
		}
	}
	if after, _ := os.ReadFile("/proc/self/cgroup"); !bytes.Equal(after, before) {
		t.Errorf("the starter's cgroups changed from %s to %s", before, after)
	}
}

func TestKillOfFrozenCgroupLeavesNothing(t *testing.T) {
	onEachKind(t, killOfFrozenCgroupLeavesNothing)
}

func killOfFrozenCgroupLeavesNothing(t *testing.T, group Cgroup) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	must(t, group.Start(cmd))
	go func() { _ = cmd.Wait() }()
	must(t, group.Freeze())
	if !group.Frozen() {
		t.Error("the cgroup is not frozen")
	}
	must(t, group.Thaw())
	if group.Frozen() {
		t.Error("the cgroup is frozen")
	}
	must(t, group.Freeze())
	must(t, group.Kill(10*time.Second))
	pids, err := group.Processes()
	must(t, err)
	if len(pids) != 0 {
		t.Errorf("processes are left: %v", pids)
	}
	must(t, group.Remove())
	root, err := NewCgroup()
	must(t, err)
	children, err := root.Children()
	must(t, err)
	for _, name := range children {
		if strings.HasPrefix(name, "unit-test-"+strconv.Itoa(os.Getpid())) {
			t.Errorf("cgroup %s is left", name)
		}
	}
	must(t, group.Create()) // for the cleanup
}

func TestInitIsTheFirstProcessOfANodeAndNotOfItsContainers(t *testing.T) {
	onEachKind(t, func(t *testing.T, group Cgroup) {
		t.Helper()
		if _, err := group.Init(); !errors.Is(err, ErrNoInit) {
			t.Errorf("without processes: %v", err)
		}
		inner := []string{"unshare", "--pid", "--fork", "sleep", "60"}
		cmd := exec.Command("unshare", append([]string{"--pid", "--fork"}, inner...)...)
		must(t, group.Start(cmd))
		go func() { _ = cmd.Wait() }()
		want := strings.Join(inner, "\x00") + "\x00"
		for until := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			pid, err := group.Init()
			name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline") // that of its parent until it executes
			if err == nil && string(name) == want {
				return
			}
			if time.Now().After(until) {
				t.Fatalf("the init process is %q, not %q: %v", name, want, err)
			}
		}
	})
}

func TestV1Name(t *testing.T) {
	for options, want := range map[string]string{
		"rw,cpu":                      "cpu",
		"rw,cpu,cpuacct":              "cpu,cpuacct",
		"rw,xattr,name=systemd":       "name=systemd",
		"rw,cpuset,clone_children":    "cpuset",
		"rw,release_agent=/x,devices": "devices",
	} {
		if got := v1Name(options); got != want {
			t.Errorf("v1Name(%q) = %q, want %q", options, got, want)
		}
	}
}
