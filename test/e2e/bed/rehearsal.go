package bed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// RehearsalLeft returns an error if a drill or a rehearsal has left a unit, a mount, a snapshot or
// lease of containerd, or a file on a node.
func RehearsalLeft(ctx context.Context, n *cluster.Node) error {
	var errs []error
	for what, argv := range map[string][]string{
		"units":     {"systemctl", "list-units", "--all", "--no-legend", "--plain", "refit-rehearsal*"},
		"mounts":    {"findmnt", "--noheadings", "--list", "--output=TARGET"},
		"snapshots": {"ctr", "--namespace=k8s.io", "snapshots", "ls"},
		"leases":    {"ctr", "--namespace=k8s.io", "leases", "ls"},
	} {
		out, err := n.Exec(ctx, argv...)
		if err == nil && strings.Contains(string(out), "refit") {
			err = fmt.Errorf("%s: %s are left: %s", n.Name(), what, out)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, filesLeft(ctx, n))...)
}

// filesLeft returns an error if a file of a drill is left: anything in its scratch directory, or
// more than the journal of an attempt.
func filesLeft(ctx context.Context, n *cluster.Node) error {
	scratch, err := find(ctx, n, []string{"/var/lib/refit/rehearsal"})
	if err != nil {
		return err
	}
	attempts, err := find(ctx, n, []string{"/var/lib/refit/backups"}, "-mindepth", "2", "-not", "-name", "journal")
	if err != nil {
		return err
	}
	if left := strings.Join(append(scratch, attempts...), " "); strings.TrimSpace(left) != "" {
		return fmt.Errorf("%s: files are left: %s", n.Name(), left)
	}
	return nil
}
