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

// Freeze stops every process of the group where it stands and returns when all stand.
func (c Cgroup) Freeze() error { return c.freezer("FROZEN") }

// Thaw lets a frozen group run on. A group that is gone or was not frozen is fine.
func (c Cgroup) Thaw() error { return c.freezer("THAWED") }

// Frozen tells whether the group stands still.
func (c Cgroup) Frozen() bool {
	state, err := os.ReadFile(filepath.Join(c.controller("freezer"), "freezer.state"))
	return err == nil && strings.TrimSpace(string(state)) != "THAWED"
}

func (c Cgroup) freezer(want string) error {
	file := filepath.Join(c.controller("freezer"), "freezer.state")
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		// Written again on each turn: a process forked meanwhile may have got through.
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			if errors.Is(err, fs.ErrNotExist) && want == "THAWED" {
				return nil
			}
			return fmt.Errorf("setting the freezer: %w", err)
		}
		state, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading the freezer: %w", err)
		}
		if strings.TrimSpace(string(state)) == want {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("%s is still %s, not %s, after 30s", c.path, strings.TrimSpace(string(state)), want)
		}
	}
}
