package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Freeze stops every process of the cgroup and returns when all of them are stopped.
func (c Cgroup) Freeze() error { return c.freezer("FROZEN") }

// Thaw resumes a frozen cgroup. It does nothing if the cgroup does not exist or is not frozen.
func (c Cgroup) Thaw() error { return c.freezer("THAWED") }

// Frozen reports whether the cgroup is frozen.
func (c Cgroup) Frozen() bool {
	if c.onlyV2() {
		frozen, err := c.frozenV2()
		return err == nil && frozen
	}
	state, err := os.ReadFile(filepath.Join(c.controller("freezer"), "freezer.state"))
	return err == nil && strings.TrimSpace(string(state)) != "THAWED"
}

func (c Cgroup) freezer(want string) error {
	limit := Timeout(30 * time.Second)
	for until := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		// Write it again on each iteration: a process that forked in the meantime may have escaped.
		done, err := c.freeze(want)
		if errors.Is(err, fs.ErrNotExist) && want == "THAWED" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("setting the freezer: %w", err)
		}
		if done {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("%s is still not %s after %s", c.path, want, limit)
		}
	}
}

func (c Cgroup) freeze(want string) (bool, error) {
	if c.onlyV2() {
		return c.setFrozen(want == "FROZEN")
	}
	file := filepath.Join(c.controller("freezer"), "freezer.state")
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		return false, err
	}
	state, err := os.ReadFile(file)
	return strings.TrimSpace(string(state)) == want, err
}
