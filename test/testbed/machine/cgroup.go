package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// CgroupRoot is the group, in every hierarchy, under which all groups of the testbed lie.
const CgroupRoot = "refit-testbed"

// Cgroup is one group of the same path in every cgroup hierarchy of the machine.
// A node lives in one of its own: without it the kubelets of all nodes would
// share one /kubepods.
type Cgroup struct {
	path        string
	hierarchies []hierarchy
}

// hierarchy is one mounted cgroup hierarchy; name is how /proc/PID/cgroup calls it.
type hierarchy struct {
	name, mount string
}

// NewCgroup names the group PATH below the testbed's root group. Nothing is made yet.
func NewCgroup(path ...string) (Cgroup, error) {
	hs, err := hierarchies()
	if err != nil {
		return Cgroup{}, err
	}
	return Cgroup{path: filepath.Join(append([]string{CgroupRoot}, path...)...), hierarchies: hs}, nil
}

// buildPrefix begins the names of groups that builds run in; the builder's process id ends them.
const buildPrefix = "build-"

// NewBuildCgroup makes a group for one program of a build of this process. Prune
// leaves it alone while the process lives.
func NewBuildCgroup() (Cgroup, error) {
	group, err := NewCgroup(buildPrefix+strconv.Itoa(os.Getpid()), strconv.FormatInt(builds.Add(1), 10))
	if err != nil {
		return group, err
	}
	return group, group.Create()
}

// BuildContainers begins the names that systemd-nspawn knows a build's containers by.
const BuildContainers = "refit-build-"

// NewBuildContainer names one such container.
func NewBuildContainer() string {
	return BuildContainers + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(builds.Add(1), 10)
}

// builds numbers the programs that this process ran in groups of their own.
var builds atomic.Int64

// OfLivingBuild tells whether a group directly below the root is that of a build at work.
func OfLivingBuild(name string) bool {
	pid, ok := strings.CutPrefix(name, buildPrefix)
	if !ok {
		return false
	}
	_, err := os.Stat("/proc/" + pid)
	return err == nil
}

// hierarchies lists the machine's cgroup hierarchies, version 1 and the unified one.
func hierarchies() ([]hierarchy, error) {
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return nil, fmt.Errorf("reading the mount table: %w", err)
	}
	var hs []hierarchy
	for _, m := range mounts {
		h := hierarchy{mount: m.Mountpoint}
		if m.FSType == "cgroup" {
			h.name = v1Name(m.VFSOptions)
		}
		if !slices.ContainsFunc(hs, func(o hierarchy) bool { return o.name == h.name }) {
			hs = append(hs, h)
		}
	}
	if !slices.ContainsFunc(hs, func(h hierarchy) bool { return h.name == "freezer" }) {
		return nil, errors.New("this machine has no cgroup v1 freezer hierarchy; the testbed runs on cgroup v1 machines only so far")
	}
	return hs, nil
}

// v1Name is the controllers of a version 1 mount, as /proc/PID/cgroup writes them.
func v1Name(options string) string {
	var names []string
	for o := range strings.SplitSeq(options, ",") {
		switch {
		case strings.HasPrefix(o, "name="):
			return o
		case o != "rw" && o != "ro" && o != "xattr" && o != "clone_children" && !strings.HasPrefix(o, "release_agent="):
			names = append(names, o)
		}
	}
	return strings.Join(names, ",")
}

func (c Cgroup) dir(h hierarchy) string { return filepath.Join(h.mount, c.path) }

// controller is the group's directory in the hierarchy of one controller.
func (c Cgroup) controller(name string) string {
	for _, h := range c.hierarchies {
		if slices.Contains(strings.Split(h.name, ","), name) {
			return c.dir(h)
		}
	}
	return ""
}

// Create makes the group in every hierarchy. A cpuset group is born without
// CPUs and memory nodes and would refuse every task, so its parent's are copied down.
func (c Cgroup) Create() error {
	for _, h := range c.hierarchies {
		if err := makeGroup(c.dir(h)); err != nil {
			return fmt.Errorf("making cgroup: %w", err)
		}
		if strings.Contains(h.name, "cpuset") {
			if err := copyCPUSetDown(h.mount, c.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeGroup tries again when another run has just removed an empty parent.
func makeGroup(dir string) (err error) {
	for range 10 {
		if err = os.MkdirAll(dir, 0o755); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func copyCPUSetDown(mount, path string) error {
	parent := mount
	for part := range strings.SplitSeq(path, "/") {
		child := filepath.Join(parent, part)
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			value, err := os.ReadFile(filepath.Join(parent, file))
			if err != nil {
				return fmt.Errorf("reading cpuset: %w", err)
			}
			if err := os.WriteFile(filepath.Join(child, file), value, 0o644); err != nil {
				return fmt.Errorf("copying cpuset down: %w", err)
			}
		}
		parent = child
	}
	return nil
}

// Remove removes the group with everything below it, and the testbed's root
// group when it was the last. Processes must be gone.
func (c Cgroup) Remove() error {
	var errs []error
	for _, h := range c.hierarchies {
		errs = append(errs, removeTree(c.dir(h)))
		for parent := filepath.Dir(c.dir(h)); parent != h.mount; parent = filepath.Dir(parent) {
			if os.Remove(parent) != nil {
				break // in use by others, or gone already
			}
		}
	}
	return errors.Join(errs...)
}

// removeTree removes cgroup directories from the leaves up; their files cannot be removed.
func removeTree(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("listing cgroups: %w", err)
	}
	for _, d := range slices.Backward(dirs) {
		if err := removeGroup(d); err != nil {
			return err
		}
	}
	return nil
}

// removeGroup retries for a moment: a group whose last process has just died is still busy.
func removeGroup(dir string) error {
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(until) {
			return fmt.Errorf("removing cgroup: %w", err)
		}
	}
}

// Children names the groups directly below this one, in any hierarchy.
func (c Cgroup) Children() ([]string, error) {
	var names []string
	for _, h := range c.hierarchies {
		entries, err := os.ReadDir(c.dir(h))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("listing cgroups: %w", err)
		}
		for _, e := range entries {
			if e.IsDir() && !slices.Contains(names, e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	return names, nil
}
