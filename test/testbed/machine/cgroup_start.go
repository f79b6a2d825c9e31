package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Start starts cmd inside the cgroup. In v1 hierarchies the forking thread enters the cgroup, forks
// and leaves it; in the unified hierarchy the kernel clones the child into it. A process of a node
// is never outside its cgroup, so a killed testbed cannot leave one behind that prune does not
// find.
func (c Cgroup) Start(cmd *exec.Cmd) error {
	unified, err := c.startDir()
	if err != nil {
		return err
	}
	if unified != "" {
		dir, err := os.Open(unified)
		if err != nil {
			return fmt.Errorf("opening cgroup: %w", err)
		}
		defer dir.Close()
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	}
	runtime.LockOSThread()
	home, err := threadCgroups(c.hierarchies)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = c.enterThread()
	if err == nil {
		err = cmd.Start()
	}
	for dir := range home {
		if e := attachThread(dir); e != nil {
			// The thread stays locked and ends with its goroutine, so that no other code runs
			// inside the cgroup of a node.
			return errors.Join(err, e)
		}
	}
	runtime.UnlockOSThread()
	return err
}

// RunEntered runs an nsenter into the namespaces of the cgroup, inside the cgroup. The kernel kills
// it if the testbed dies first.
func (c Cgroup) RunEntered(cmd *exec.Cmd) error {
	ended := make(chan struct{})
	defer close(ended)
	return runBound(cmd, func(cmd *exec.Cmd) error {
		if err := c.Start(cmd); err != nil {
			return err
		}
		go keepAwake(cmd.Process.Pid, ended)
		return nil
	})
}

// keepAwake resumes an nsenter that stopped itself because its child was stopped. A node that shuts
// down stops all its processes and then kills them; nobody would resume nsenter, its dead child
// would never be reaped, and the node would never be off.
func keepAwake(pid int, ended <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err == nil && strings.Contains(string(status), "\nState:\tT") {
			_ = unix.Kill(pid, unix.SIGCONT)
		}
	}
}

func (c Cgroup) enterThread() error {
	for _, h := range c.hierarchies {
		if err := attachThread(c.dir(h)); err != nil {
			return err
		}
	}
	return nil
}

// attachThread moves the calling thread. It skips the unified hierarchy, which moves only whole
// processes.
func attachThread(dir string) error {
	file := filepath.Join(dir, "tasks")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(unix.Gettid())), 0o644); err != nil {
		return fmt.Errorf("entering cgroup: %w", err)
	}
	return nil
}

// threadCgroups returns the directories of the cgroups of the calling thread.
func threadCgroups(hs []hierarchy) (map[string]bool, error) {
	text, err := os.ReadFile("/proc/thread-self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("reading own cgroup: %w", err)
	}
	dirs := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, h := range hs {
			if h.name == parts[1] {
				dirs[filepath.Join(h.mount, parts[2])] = true
			}
		}
	}
	return dirs, nil
}
