package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// enter makes the host's root directory ours. A path on the host then means what it means there, also where links are in it.
func enter(command, root string) error {
	if root == "" {
		return errors.New("--host: say where the host's root directory is mounted")
	}
	if err := needsRoot(command); err != nil {
		return err
	}
	if !filepath.IsAbs(root) {
		return fmt.Errorf("--host: %q is no absolute path", root)
	}
	// It tells a host from an empty directory, and from a host that has another service manager.
	if _, err := os.Stat(filepath.Join(root, "run/systemd/system")); err != nil {
		return fmt.Errorf("--host: there is no root directory of a host that runs systemd at %s: %w", root, err)
	}
	if err := os.Chdir(root); err != nil {
		return fmt.Errorf("entering the host's root directory: %w", err)
	}
	if err := syscall.Chroot("."); err != nil {
		return fmt.Errorf("entering the host's root directory (the container must be privileged): %w", err)
	}
	return nil
}
