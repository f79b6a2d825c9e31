package builder

import (
	"fmt"
	"os"
	"path/filepath"
)

// debianRubbish are patterns of files that a node does not need.
var debianRubbish = []string{
	"var/cache/apt/archives/*.deb", "var/cache/apt/*.bin", "var/lib/apt/lists/*",
	"usr/share/doc/*", "usr/share/man/*", "usr/share/info/*", "usr/share/locale/*", "usr/share/lintian/*",
	"usr/share/bash-completion/*", "usr/share/zsh/*",
	"var/log/*.log", "var/log/apt/*", "var/cache/debconf/*-old", "var/lib/dpkg/*-old",
}

// trim removes these files.
func trim(root string) error { return removeAll(root, debianRubbish) }

// removeAll removes the files that patterns match.
func removeAll(root string, patterns []string) error {
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return fmt.Errorf("removing files: %w", err)
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("removing files: %w", err)
			}
		}
	}
	return nil
}

// furnish removes the identity and the resolver of the build machine, and sets the apt source.
func furnish(root string) error {
	for _, place := range debianPlaces {
		if err := os.MkdirAll(filepath.Join(root, place), 0o755); err != nil {
			return fmt.Errorf("furnishing: %w", err)
		}
	}
	files := map[string]string{
		"etc/apt/sources.list": aptSource,
		"etc/resolv.conf":      nowhere,
		"etc/hostname":         "localhost\n",
		// Empty, not absent: systemd then generates an identity on the first boot.
		"etc/machine-id": "",
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("furnishing: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("furnishing: %w", err)
		}
	}
	return nil
}
