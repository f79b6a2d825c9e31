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

	"github.com/moby/sys/mountinfo"
)

// Inventory lists everything on the machine that a testbed could leave behind, one line each. The
// difference of two inventories is what was left.
type Inventory map[string]bool

// TakeInventory lists mounts, links, loop devices, cgroups, namespaces, processes in other
// namespaces or cgroups, kernel settings, and the files below the given directories.
func TakeInventory(dirs ...string) (Inventory, error) {
	seen := Inventory{}
	takers := []func(Inventory) error{
		takeMounts, takeLinks, takeLoopDevices, takeCgroups, takeProcesses, takeKernelSettings,
	}
	for _, take := range takers {
		if err := take(seen); err != nil {
			return nil, err
		}
	}
	for _, dir := range dirs {
		if err := takeFiles(seen, dir); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// Since returns what this inventory has and the earlier one does not.
func (i Inventory) Since(earlier Inventory) []string {
	var lines []string
	for line := range i {
		if !earlier[line] {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

func takeMounts(seen Inventory) error {
	mounts, err := mountinfo.GetMounts(nil)
	for _, m := range mounts {
		seen["mount "+m.Mountpoint+" "+m.FSType] = true
	}
	return err
}

func takeLinks(seen Inventory) error {
	links, err := LinksWithPrefix("")
	for _, l := range links {
		seen["link "+l] = true
	}
	return err
}

func takeLoopDevices(seen Inventory) error {
	devices, err := LoopDevices()
	for device, file := range devices {
		seen["loop device "+device+" of "+file] = true
	}
	return err
}

func takeKernelSettings(seen Inventory) error {
	settings, err := KernelSettings()
	for name, value := range settings {
		seen["kernel setting "+name+"="+value] = true
	}
	return err
}

// takeCgroups lists all cgroups except the siblings of our own, which come and go.
func takeCgroups(seen Inventory) error {
	hs, err := hierarchies()
	if err != nil {
		return err
	}
	ours, err := threadCgroups(hs)
	if err != nil {
		return err
	}
	for _, h := range hs {
		err := filepath.WalkDir(h.mount, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.IsDir() || path == h.mount {
				return err
			}
			for own := range ours {
				if own != h.mount && (path == own || strings.HasPrefix(own, path+"/")) {
					return fs.SkipDir
				}
			}
			seen["cgroup "+path] = true
			return nil
		})
		if err != nil {
			return fmt.Errorf("listing cgroups: %w", err)
		}
	}
	return nil
}

// takeProcesses lists the processes in other namespaces or in cgroups of the testbed, and the
// namespaces. Other processes come and go.
func takeProcesses(seen Inventory) error {
	own := namespaces("self")
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		spaces := namespaces(e.Name())
		groups, _ := os.ReadFile("/proc/" + e.Name() + "/cgroup")
		command, _ := os.ReadFile("/proc/" + e.Name() + "/comm")
		foreign := false
		for space := range spaces {
			if !own[space] {
				foreign = true
				seen["namespace "+space] = true
			}
		}
		name := strings.TrimSpace(string(command))
		if foreign || strings.Contains(string(groups), "/"+CgroupRoot) || name == "systemd-nspawn" || name == "haproxy" {
			seen["process "+e.Name()+" "+name] = true
		}
	}
	return nil
}

func namespaces(pid string) map[string]bool {
	spaces := map[string]bool{}
	for _, kind := range []string{"cgroup", "ipc", "mnt", "net", "pid", "uts"} {
		if target, err := os.Readlink("/proc/" + pid + "/ns/" + kind); err == nil {
			spaces[target] = true
		}
	}
	return spaces
}

func takeFiles(seen Inventory, dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		seen["file "+path] = true
		return nil
	})
}
