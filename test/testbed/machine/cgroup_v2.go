package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// leaf is the cgroup of v2 for the commands of a Cgroup. One that divides its resources among
// others must not have processes of its own.
const leaf = "run"

// wanted are the controllers of v2 that nodes need, if the machine has them.
var wanted = []string{"cpu", "cpuset", "io", "memory", "pids"}

// onlyV2 reports whether the machine has no v1 hierarchy with controllers.
func (c Cgroup) onlyV2() bool { return c.unified() != "" && c.v1("freezer") == "" }

// Divided returns the directory of the cgroup if it must not have processes of its own, but only
// cgroups below it that have some. That is so in v2; else it returns an empty string.
func (c Cgroup) Divided() string {
	if !c.onlyV2() {
		return ""
	}
	return c.unified()
}

// UsesCgroupV2 reports whether nodes of this machine see cgroup v2.
func UsesCgroupV2() (bool, error) {
	root, err := NewCgroup()
	return root.onlyV2(), err
}

// enableControllers hands the controllers of the unified hierarchy down to the cgroup at path and
// to those below it.
func enableControllers(mount, path string) error {
	dir := mount
	for _, part := range append([]string{""}, strings.Split(path, "/")...) {
		dir = filepath.Join(dir, part)
		has, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		if err != nil {
			return fmt.Errorf("reading the controllers of a cgroup: %w", err)
		}
		for name := range strings.FieldsSeq(string(has)) {
			if !slices.Contains(wanted, name) {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+name), 0o644); err != nil {
				return fmt.Errorf("enabling the controller %s in %s: %w", name, dir, err)
			}
		}
	}
	return nil
}

// startDir returns the directory of the unified hierarchy for new processes, or an empty string.
func (c Cgroup) startDir() (string, error) {
	dir := c.unified()
	if dir == "" || !c.onlyV2() {
		return dir, nil
	}
	dir = filepath.Join(dir, leaf)
	// The cgroup itself must exist: a node that is off has none.
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("creating cgroup: %w", err)
	}
	return dir, nil
}

// setFrozen writes the file of v2 that freezes, and reports whether the cgroup is as wanted.
func (c Cgroup) setFrozen(want bool) (bool, error) {
	value := "0"
	if want {
		value = "1"
	}
	if err := os.WriteFile(filepath.Join(c.unified(), "cgroup.freeze"), []byte(value), 0o644); err != nil {
		return false, err
	}
	frozen, err := c.frozenV2()
	return frozen == want, err
}

// frozenV2 reports whether all processes are stopped. A cgroup that was removed is not frozen.
func (c Cgroup) frozenV2() (bool, error) {
	events, err := os.ReadFile(filepath.Join(c.unified(), "cgroup.events"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return false, nil
	}
	return slices.Contains(strings.Split(string(events), "\n"), "frozen 1"), err
}
