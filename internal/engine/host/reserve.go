package host

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// Reserve allocates a file that is removed when a rollback needs its disk space.
func Reserve(path string, bytes int64) error {
	if err := durable.CheckPath(path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return durable.Explain(err, "reserve disk space in", path)
	}
	defer file.Close()
	if err := allocate(file, bytes); err != nil {
		// A partial reserve is useless and takes disk space from others.
		_ = os.Remove(path)
		return durable.Explain(err, "reserve disk space in", path)
	}
	return durable.Explain(durable.SyncDir(filepath.Dir(path)), "reserve disk space in", path)
}

func allocate(file *os.File, bytes int64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		return err
	}
	if stat.Size >= bytes && stat.Blocks*512 >= bytes {
		return nil
	}
	for {
		err := unix.Fallocate(int(file.Fd()), 0, 0, bytes)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
			err = writeZeros(file, bytes)
		}
		if err != nil {
			return err
		}
		return durable.Sync(file)
	}
}

func writeZeros(file *os.File, bytes int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < bytes; at += int64(len(zeros)) {
		if _, err := file.WriteAt(zeros[:min(int64(len(zeros)), bytes-at)], at); err != nil {
			return err
		}
	}
	return nil
}

// ReleaseReserve frees the reserved disk space.
func ReleaseReserve(path string) error { return durable.Remove(path) }

// Device returns the ID of the file system of a path or, if it does not exist, of its nearest
// existing parent.
func Device(path string) (uint64, error) {
	if err := durable.CheckPath(path); err != nil {
		return 0, err
	}
	var stat unix.Stat_t
	err := unix.Stat(path, &stat)
	for at := path; errors.Is(err, unix.ENOENT) && at != "/"; {
		at = filepath.Dir(at)
		err = unix.Stat(at, &stat)
	}
	return stat.Dev, durable.Explain(err, "reading", path)
}

// FreeSpace is the free space of a file system.
type FreeSpace struct {
	Bytes         uint64
	Total         uint64 // without the blocks that are reserved for root, as df counts it
	InodesPercent int    // of free inodes; 100 if there is no limit
	ReadOnly      bool
	Device        uint64 // of the file system: two paths with the same one share the space
}

// Free returns the free space of the file system of a path or, if it does not exist, of its nearest
// existing parent.
func Free(path string) (FreeSpace, error) {
	if err := durable.CheckPath(path); err != nil {
		return FreeSpace{}, err
	}
	var stat unix.Statfs_t
	at := path
	err := unix.Statfs(at, &stat)
	for err != nil && at != "/" && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR)) {
		if errors.Is(err, unix.ENOENT) {
			at = filepath.Dir(at)
		}
		err = unix.Statfs(at, &stat)
	}
	if err != nil {
		return FreeSpace{}, durable.Explain(err, "read the free disk space of", path)
	}
	var info unix.Stat_t
	if err := unix.Stat(at, &info); err != nil {
		return FreeSpace{}, durable.Explain(err, "read the file system of", path)
	}
	block := uint64(stat.Bsize)
	free := FreeSpace{
		Bytes: stat.Bavail * block, Total: (stat.Blocks - stat.Bfree + stat.Bavail) * block,
		InodesPercent: 100, ReadOnly: stat.Flags&unix.ST_RDONLY != 0, Device: info.Dev,
	}
	if stat.Files > 0 {
		free.InodesPercent = int(stat.Ffree * 100 / stat.Files)
	}
	return free, nil
}
