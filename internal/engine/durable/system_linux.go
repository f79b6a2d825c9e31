package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW

// OwnerOf returns the owner of a file that os.Stat or os.Lstat described.
func OwnerOf(info fs.FileInfo) Owner {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Caller
	}
	return Owner{UID: int(stat.Uid), GID: int(stat.Gid)}
}

func diskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

func diskBroken(err error) bool {
	return errors.Is(err, unix.EROFS) || errors.Is(err, unix.EIO) || errors.Is(err, unix.EUCLEAN)
}

func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return renameUnlessTaken(from, to) // The file system does not support the flag.
	}
	if err != nil {
		return &os.LinkError{Op: "renameat2", Old: from, New: to, Err: err}
	}
	return nil
}
