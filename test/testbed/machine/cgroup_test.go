package machine

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// newGroup creates a cgroup for one test and removes it with everything in it.
func newGroup(t *testing.T) Cgroup {
	t.Helper()
	needRoot(t)
	group, err := NewCgroup("unit-test-"+strconv.Itoa(os.Getpid()), "node")
	must(t, err)
	must(t, group.Create())
	t.Cleanup(func() {
		must(t, group.Kill(10*time.Second))
		must(t, group.Remove())
	})
	return group
}

func TestStartedProcessIsInTheCgroupAndTheStarterIsNot(t *testing.T) {
	group := newGroup(t)
	before, err := os.ReadFile("/proc/self/cgroup")
	must(t, err)
	cmd := exec.Command("sleep", "60")
	must(t, group.Start(cmd))
	go func() { _ = cmd.Wait() }()

	child, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/cgroup")
	must(t, err)
	for line := range strings.Lines(string(child)) {
		if !strings.Contains(line, CgroupRoot) {
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
	group := newGroup(t)
	cmd := exec.Command("sleep", "60")
	must(t, group.Start(cmd))
	go func() { _ = cmd.Wait() }()
	must(t, group.Freeze())
	if !group.Frozen() {
		t.Error("the cgroup is not frozen")
	}
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
