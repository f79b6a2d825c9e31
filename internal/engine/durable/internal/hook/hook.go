// Package hook holds the system calls of package durable that durabletest replaces.
package hook

import (
	"errors"
	"os"
)

// SyncFile writes the content of an open file to the disk.
var SyncFile = (*os.File).Sync

// Link gives a file a second name.
var Link = os.Link

// Matchpathcon are the places of the binary that knows the SELinux label of a path.
var Matchpathcon = []string{"/usr/sbin/matchpathcon", "/sbin/matchpathcon"}

// SyncDir writes the names in a directory to the disk.
var SyncDir = func(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
