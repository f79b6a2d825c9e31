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

// CgroupRoot is the parent of all cgroups of the testbed, in every hierarchy.
const CgroupRoot = "refit-testbed"

// Cgroup is a cgroup of the same path in every cgroup hierarchy of the machine. Each node has its
// own: otherwise the kubelets of all nodes would share one /kubepods.
type Cgroup struct {
	path        string
	hierarchies []hierarchy
}

// hierarchy is a mounted cgroup hierarchy; name is its name in /proc/PID/cgroup.
type hierarchy struct {
	name, mount string
}

// NewCgroup returns the cgroup at path below the root cgroup, without creating it.
func NewCgroup(path ...string) (Cgroup, error) {
	hs, err := hierarchies()
	if err != nil {
		return Cgroup{}, err
	}
	return Cgroup{path: filepath.Join(append([]string{CgroupRoot}, path...)...), hierarchies: hs}, nil
}

// buildPrefix is the prefix of the cgroups of builds; their suffix is the process ID of the
// builder.
const buildPrefix = "build-"

// NewBuildCgroup returns a cgroup for one command of a build of this process. Prune keeps it while
// the process lives.
func NewBuildCgroup() (Cgroup, error) {
	group, err := NewCgroup(buildPrefix+strconv.Itoa(os.Getpid()), strconv.FormatInt(builds.Add(1), 10))
	if err != nil {
		return group, err
	}
	return group, group.Create()
}

// BuildContainers is the prefix of the systemd-nspawn machine names of builds.
const BuildContainers = "refit-build-"

// NewBuildContainer returns a machine name for such a container.
func NewBuildContainer() string {
	return BuildContainers + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(builds.Add(1), 10)
}

// builds counts the commands that this process ran in their own cgroups.
var builds atomic.Int64

// OfLivingBuild reports whether a cgroup directly below the root belongs to a running build.
func OfLivingBuild(name string) bool {
	pid, ok := strings.CutPrefix(name, buildPrefix)
	if !ok {
		return false
	}
	_, err := os.Stat("/proc/" + pid)
	return err == nil
}

// hierarchies returns the cgroup hierarchies of the machine, v1 and unified.
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
	if len(hs) == 0 {
		return nil, errors.New("this machine has no cgroup hierarchy: mount cgroup2 on /sys/fs/cgroup")
	}
	return hs, nil
}

// v1Name returns the controllers of a v1 mount, as in /proc/PID/cgroup.
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

// controller returns the directory of the cgroup in the hierarchy of a controller.
func (c Cgroup) controller(name string) string {
	if dir := c.v1(name); dir != "" {
		return dir
	}
	return c.unified()
}

// v1 returns the directory of the cgroup in the v1 hierarchy of a controller, or an empty string.
func (c Cgroup) v1(controller string) string {
	for _, h := range c.hierarchies {
		if slices.Contains(strings.Split(h.name, ","), controller) {
			return c.dir(h)
		}
	}
	return ""
}

// unified returns the directory of the cgroup in the unified hierarchy, or an empty string.
func (c Cgroup) unified() string {
	for _, h := range c.hierarchies {
		if h.name == "" {
			return c.dir(h)
		}
	}
	return ""
}

// Create creates the cgroup in every hierarchy. A new cpuset cgroup of v1 has no CPUs and memory
// nodes and rejects every task, so its parent's are copied. One of v2 has no controllers.
func (c Cgroup) Create() error {
	for _, h := range c.hierarchies {
		if err := makeGroup(c.dir(h)); err != nil {
			return fmt.Errorf("creating cgroup: %w", err)
		}
		if c.onlyV2() {
			if err := enableControllers(h.mount, c.path); err != nil {
				return err
			}
		}
		if strings.Contains(h.name, "cpuset") {
			if err := copyCPUSetDown(h.mount, c.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeGroup retries, because another run may just have removed an empty parent.
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
				return fmt.Errorf("copying cpuset: %w", err)
			}
		}
		parent = child
	}
	return nil
}

// Remove removes the cgroup with everything below it, and the root cgroup if it is empty then. All
// processes must have ended.
func (c Cgroup) Remove() error {
	var errs []error
	for _, h := range c.hierarchies {
		errs = append(errs, removeTree(c.dir(h)))
		for parent := filepath.Dir(c.dir(h)); parent != h.mount; parent = filepath.Dir(parent) {
			if os.Remove(parent) != nil {
				break // in use, or already removed
			}
		}
	}
	return errors.Join(errs...)
}

// removeTree removes cgroup directories from the leaves up; the files in them cannot be removed.
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

// removeGroup retries briefly: a cgroup is busy for a moment after its last process died.
func removeGroup(dir string) error {
	for until := time.Now().Add(Timeout(5 * time.Second)); ; time.Sleep(20 * time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(until) {
			return fmt.Errorf("removing cgroup: %w", err)
		}
	}
}

// Children returns the names of the cgroups directly below, in any hierarchy.
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
