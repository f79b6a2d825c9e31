package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/refit-dev/refit/test/testbed/machine"
)

var labelRule = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$`)

// SaveDisk saves the disk of a node that is off under a label.
func (n *Node) SaveDisk(ctx context.Context, label string) error {
	saved, err := n.savedDisk(ctx, label)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(saved), 0o755); err != nil {
		return err
	}
	return replaceDisk(ctx, n.disk(), saved)
}

// RestoreDisk restores a saved disk. The node must be off.
func (n *Node) RestoreDisk(ctx context.Context, label string) error {
	saved, err := n.savedDisk(ctx, label)
	if err != nil {
		return err
	}
	if _, err := os.Stat(saved); err != nil {
		return fmt.Errorf("node %s has no disk saved as %q: %w", n.Name(), label, ErrNotFound)
	}
	return replaceDisk(ctx, saved, n.disk())
}

func (n *Node) savedDisk(ctx context.Context, label string) (string, error) {
	if !n.hasDisk() {
		return "", fmt.Errorf("node %s has no separate disk; create its cluster with: testbed up --disk 6G", n.Name())
	}
	if !labelRule.MatchString(label) {
		return "", errors.New("label: want letters, digits, '.', '_' or '-', 63 at most")
	}
	if err := n.requireOff(ctx); err != nil {
		return "", err
	}
	return filepath.Join(n.dir(), "saved", label+".ext4"), nil
}

// replaceDisk copies and renames, so that a kill leaves the old disk.
func replaceDisk(ctx context.Context, from, to string) error {
	next := to + ".new"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := machine.CopyDisk(ctx, from, next); err != nil {
		return err
	}
	return os.Rename(next, to)
}
