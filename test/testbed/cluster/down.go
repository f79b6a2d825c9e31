package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// Down removes a cluster, without shutting it down first.
func (c *Cluster) Down(ctx context.Context) error {
	if c.release == nil {
		release, err := machine.TryLock(c.t.busyFile(c.Name()))
		if errors.Is(err, machine.ErrLocked) {
			return fmt.Errorf("cluster %s is being created or removed by another run, or is in use by a test", c.Name())
		}
		if err != nil {
			return err
		}
		c.release = release
	}
	defer c.release()
	return c.remove(ctx)
}

// remove removes the cluster. It records the removal first, so that prune can finish it after a
// kill.
func (c *Cluster) remove(ctx context.Context) error {
	c.s.Phase = PhaseGoing
	if err := c.t.save(c.s); err != nil {
		return err
	}
	return c.t.sweep(ctx, c.Name(), c.s.Number)
}

// sweep removes everything that belongs to a cluster: first processes, so that nothing reappears,
// then what they used, and the record last.
func (t *Testbed) sweep(ctx context.Context, name string, number int) error {
	group, err := machine.NewCgroup(name)
	if err != nil {
		return err
	}
	if err := group.Kill(machine.Timeout(killDeadline)); err != nil {
		return err
	}
	if err := group.Remove(); err != nil {
		return err
	}
	roots, err := filepath.Glob(filepath.Join(t.dir(name), "nodes", "*", "root"))
	if err != nil {
		return err
	}
	for _, root := range roots {
		if err := machine.ForgetRoot(root); err != nil {
			return err
		}
	}
	if err := machine.UnmountBelow(t.dir(name)); err != nil {
		return err
	}
	if err := sweepNetwork(number); err != nil {
		return err
	}
	return t.forget(ctx, name)
}

// sweepNetwork removes links, the bridge, and what systemd-nspawn keeps about the nodes of a
// cluster.
func sweepNetwork(number int) error {
	if number < 0 {
		return nil
	}
	nodes := fmt.Sprintf("%s%dn", machinePrefix, number)
	return errors.Join(
		machine.DeleteLinks(cablePrefix+nodes),
		machine.DeleteLink(bridgeName(number)),
		machine.ForgetContainers(nodes+"*"),
	)
}

// forget removes the directory of a cluster, and after the last cluster everything shared. The
// directory is renamed first, because a partial one must not look like a cluster, and deleted
// without the lock, because that takes seconds.
func (t *Testbed) forget(ctx context.Context, name string) error {
	gone := filepath.Join(t.stateDir, "removing-"+name)
	if err := t.locked(ctx, func() error {
		if err := os.RemoveAll(gone); err != nil {
			return err
		}
		if err := os.Rename(t.dir(name), gone); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}); err != nil {
		return err
	}
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	return t.locked(ctx, t.tidy)
}

// locked runs work while no other run claims or forgets a cluster.
func (t *Testbed) locked(ctx context.Context, work func() error) error {
	unlock, err := machine.Lock(ctx, t.lockFile(), nil)
	if err != nil {
		return err
	}
	defer unlock()
	return work()
}

// tidy restores the machine after the last cluster, and removes the state directory. The caller
// holds the lock.
func (t *Testbed) tidy() error {
	names, err := t.names()
	if err != nil || len(names) > 0 {
		return err
	}
	removing, err := filepath.Glob(filepath.Join(t.stateDir, "removing-*"))
	if err != nil || len(removing) > 0 {
		return err // another run does it, or prune will
	}
	if err := machine.RestoreKernelSettings(t.kernelSettingsFile()); err != nil {
		return err
	}
	for _, path := range []string{t.kernelSettingsFile() + machine.NewSuffix, t.clustersDir(), t.lockFile(), t.stateDir} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
