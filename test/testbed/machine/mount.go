package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// MountOverlay mounts an overlay of upper over lower at target.
func MountOverlay(lower, upper, work, target string) error {
	options := "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work
	if err := unix.Mount("overlay", target, "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting overlay at %s: %w", target, err)
	}
	return nil
}

// MountBind bind-mounts a directory.
func MountBind(from, target string) error {
	if err := unix.Mount(from, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", from, target, err)
	}
	return nil
}

// SameFileSystem reports whether hard links between two directories are possible.
func SameFileSystem(a, b string) (bool, error) {
	var first, second unix.Stat_t
	if err := errors.Join(unix.Stat(a, &first), unix.Stat(b, &second)); err != nil {
		return false, fmt.Errorf("comparing %s and %s: %w", a, b, err)
	}
	return first.Dev == second.Dev, nil
}

// Mounted reports whether a file system is mounted at this directory.
func Mounted(dir string) (bool, error) {
	mounts, err := mountsBelow(dir)
	return slices.Contains(mounts, dir), err
}

// UnmountBelow unmounts dir and everything below it, innermost first. The kernel frees the loop
// devices of such mounts.
func UnmountBelow(dir string) error {
	mounts, err := mountsBelow(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range slices.Backward(mounts) {
		if err := unix.Unmount(m, 0); err != nil {
			errs = append(errs, fmt.Errorf("unmounting %s: %w", m, err))
		}
	}
	return errors.Join(errs...)
}

// mountsBelow lists the mount points at and below dir in mount order.
func mountsBelow(dir string) ([]string, error) {
	infos, err := mountinfo.GetMounts(func(i *mountinfo.Info) (skip, stop bool) {
		return i.Mountpoint != dir && !strings.HasPrefix(i.Mountpoint, dir+"/"), false
	})
	if err != nil {
		return nil, fmt.Errorf("reading the mount table: %w", err)
	}
	var dirs []string
	for _, i := range infos {
		dirs = append(dirs, i.Mountpoint)
	}
	return dirs, nil
}
