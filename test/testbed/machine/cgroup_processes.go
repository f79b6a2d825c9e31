package machine

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Processes lists every process in the cgroup and below it, in any hierarchy, except the testbed
// itself, whose threads may be there for a moment.
func (c Cgroup) Processes() ([]int, error) {
	seen := map[int]bool{os.Getpid(): true}
	var pids []int
	for _, h := range c.hierarchies {
		err := filepath.WalkDir(c.dir(h), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					return nil
				}
				return err
			}
			if d.IsDir() || d.Name() != "cgroup.procs" {
				return nil
			}
			found, err := readPIDs(path)
			for _, pid := range found {
				if !seen[pid] {
					seen[pid] = true
					pids = append(pids, pid)
				}
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("listing the processes of %s: %w", c.path, err)
		}
	}
	return pids, nil
}

func readPIDs(path string) ([]int, error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	defer f.Close()
	var pids []int
	for s := bufio.NewScanner(f); s.Scan(); {
		if pid, err := strconv.Atoi(s.Text()); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Kill sends SIGKILL to every process of the cgroup and returns when none is left. It thaws a
// frozen cgroup, because a frozen process does not die.
func (c Cgroup) Kill(deadline time.Duration) error {
	until := time.Now().Add(deadline)
	for {
		pids, err := c.Processes()
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("%d processes of %s still exist %s after SIGKILL: %v", len(pids), c.path, deadline, pids)
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if err := c.Thaw(); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
