package durable

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxXattr is the limit of the kernel for a value and for the list of names.
const maxXattr = 64 << 10

// xattrsOf returns the extended attributes of a file, without those of one content or inode.
func xattrsOf(path string) (Xattrs, error) {
	return readXattrs(
		func(to []byte) (int, error) { return unix.Listxattr(path, to) },
		func(name string, to []byte) (int, error) { return unix.Getxattr(path, name, to) })
}

func xattrsOfOpen(file *os.File) (Xattrs, error) {
	fd := int(file.Fd())
	return readXattrs(
		func(to []byte) (int, error) { return unix.Flistxattr(fd, to) },
		func(name string, to []byte) (int, error) { return unix.Fgetxattr(fd, name, to) })
}

func readXattrs(list func([]byte) (int, error), get func(string, []byte) (int, error)) (Xattrs, error) {
	all := Xattrs{}
	names, err := read(list)
	if rejected(err) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		if name == "" || slices.Contains(bound, name) {
			continue
		}
		value, err := read(func(to []byte) (int, error) { return get(name, to) })
		switch {
		case errors.Is(err, unix.ENODATA), rejected(err): // It is removed since, or not readable.
		case err != nil:
			return nil, err
		default:
			all[name] = value
		}
	}
	return all, nil
}

// read calls a function with a buffer that is large enough.
func read(get func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buffer := make([]byte, size)
		n, err := get(buffer)
		if errors.Is(err, unix.ERANGE) && size < maxXattr {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buffer[:n], nil
	}
}

// setXattrs sets those that differ, so that a second call needs no disk space. It removes only an
// ACL: a new file inherits nothing else from its directory but labels, which it needs.
func setXattrs(file *os.File, want Xattrs, keepACL bool) error {
	have, err := xattrsOfOpen(file)
	if err != nil {
		return err
	}
	fd := int(file.Fd())
	for name, value := range want {
		if now, found := have[name]; found && bytes.Equal(now, value) {
			continue
		}
		if err := unix.Fsetxattr(fd, name, value, 0); err != nil && !rejected(err) {
			return &os.PathError{Op: "setxattr " + name, Path: file.Name(), Err: err}
		}
	}
	_, wanted := want[aclXattr]
	if _, found := have[aclXattr]; !found || wanted || keepACL {
		return nil
	}
	if err := unix.Fremovexattr(fd, aclXattr); err != nil && !rejected(err) {
		return &os.PathError{Op: "removexattr " + aclXattr, Path: file.Name(), Err: err}
	}
	return nil
}

// rejected reports whether the file system or the security policy refuses an attribute. That must
// not fail an upgrade.
func rejected(err error) bool { return err != nil && !diskFull(err) && !diskBroken(err) }
