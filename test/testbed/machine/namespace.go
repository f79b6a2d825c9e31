package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrNoInit is returned if a cgroup has no running init process: the node is off.
var ErrNoInit = errors.New("no init process")

// Init returns the process of the cgroup that is PID 1 of a PID namespace directly below the
// machine's: the systemd of the node, not one of a container in the node. In v1 it searches only
// the freezer cgroup, where systemd creates no cgroups.
func (c Cgroup) Init() (int, error) {
	pids, err := c.initCandidates()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		if isNamespaceInit(pid) {
			return pid, nil
		}
	}
	return 0, ErrNoInit
}

func (c Cgroup) initCandidates() ([]int, error) {
	if c.onlyV2() {
		return c.Processes()
	}
	return readPIDs(filepath.Join(c.controller("freezer"), "cgroup.procs"))
}

func isNamespaceInit(pid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil || bytes.Contains(status, []byte("\nState:\tZ")) {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
			ids := strings.Fields(rest)
			return len(ids) == 2 && ids[1] == "1"
		}
	}
	return false
}

// DialFrom connects from the network namespace of a process. A socket belongs to the namespace of
// the thread that creates it, so the thread enters the namespace for the call.
func DialFrom(ctx context.Context, pid int, network, address string) (net.Conn, error) {
	runtime.LockOSThread()
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("opening own network namespace: %w", err)
	}
	defer unix.Close(home)
	there, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("opening the node's network namespace: %w", err)
	}
	defer unix.Close(there)
	if err := unix.Setns(there, unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("entering the node's network namespace: %w", err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if back := unix.Setns(home, unix.CLONE_NEWNET); back != nil {
		// The thread stays locked and ends with its goroutine.
		return conn, errors.Join(err, fmt.Errorf("leaving the node's network namespace: %w", back))
	}
	runtime.UnlockOSThread()
	return conn, err
}
