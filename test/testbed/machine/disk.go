package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CreateDisk creates an ext4 file system of size bytes in a sparse file.
func CreateDisk(ctx context.Context, file string, size int64) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("creating disk: %w", err)
	}
	err = f.Truncate(size)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("creating disk: %w", err)
	}
	// Write inode tables now, not in a kernel thread later: background writes would disturb saved
	// disks and power cuts.
	return Run(ctx, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-m", "0", file)
}

// MountDisk mounts the disk at dir through a loop device, which is freed with the mount. After a
// power cut this replays the journal, as on boot.
//
// It does not use discard: holes are punched when a transaction commits, outside of the journal,
// and a power cut at that moment loses data that was synced long before.
func MountDisk(ctx context.Context, file, dir string) error {
	return Run(ctx, "mount", "-t", "ext4", "-o", "loop", file, dir)
}

// CopyDisk copies an unmounted disk and keeps its holes.
func CopyDisk(ctx context.Context, from, to string) error {
	return Run(ctx, "cp", "--sparse=always", "--reflink=auto", "--", from, to)
}

// Flags of the ext4 ioctl FS_IOC_SHUTDOWN.
const (
	fsIocShutdown        = 0x8004587d
	goingFlagsNoLogFlush = 2
)

// CutPower stops a mounted ext4 immediately: neither data in the page cache nor the open journal
// transaction reaches the disk. The file system returns EIO from now on; unmount and mount it again
// to see what survived.
func CutPower(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cutting the power of %s: %w", dir, err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetPointerInt(fd, fsIocShutdown, goingFlagsNoLogFlush); err != nil {
		return fmt.Errorf("cutting the power of %s: %w", dir, err)
	}
	return nil
}

// WaitDiskFree waits until no loop device uses the file. The mount namespace of a dying node
// releases its disk shortly after its last process; mounting the file again before that would give
// one disk two file systems.
func WaitDiskFree(ctx context.Context, file string) error {
	limit := Timeout(30 * time.Second)
	for until := time.Now().Add(limit); ; {
		devices, err := LoopDevices()
		if err != nil {
			return err
		}
		holder := ""
		for device, backing := range devices {
			if backing == file {
				holder = device
			}
		}
		if holder == "" {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("%s still uses %s %s after it was unmounted", holder, file, limit)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// LoopDevices returns the file of each loop device in use.
func LoopDevices() (map[string]string, error) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, err
	}
	devices := map[string]string{}
	for _, f := range files {
		backing, err := os.ReadFile(f)
		if err != nil {
			continue // freed in the meantime
		}
		devices[strings.Split(f, "/")[3]] = strings.TrimSuffix(strings.TrimSpace(string(backing)), " (deleted)")
	}
	return devices, nil
}
