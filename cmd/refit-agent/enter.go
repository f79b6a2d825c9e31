package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// enter changes the root directory to that of the host, so that paths and symbolic links resolve as
// on the host.
func enter(command, root string) error {
	if root == "" {
		return usagef("--host is required: the mount point of the host's root directory")
	}
	if err := needsRoot(command); err != nil {
		return err
	}
	if !filepath.IsAbs(root) {
		return usagef("--host: %q is not an absolute path", root)
	}
	// This detects an empty directory, and a host with another init system.
	if _, err := os.Stat(filepath.Join(root, "run/systemd/system")); err != nil {
		return fmt.Errorf("--host: %s is not the root directory of a host that runs systemd: %w", root, err)
	}
	if err := os.Chdir(root); err != nil {
		return fmt.Errorf("cannot enter the host's root directory: %w", err)
	}
	if err := syscall.Chroot("."); err != nil {
		return fmt.Errorf("cannot enter the host's root directory (the container must be privileged): %w", err)
	}
	return nil
}
