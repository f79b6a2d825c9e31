//go:build linux || darwin

package bundles

import "golang.org/x/sys/unix"

// freeBytes returns the free disk space of a directory.
func freeBytes(directory string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(directory, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // no file system is that large; the types differ between systems
}
