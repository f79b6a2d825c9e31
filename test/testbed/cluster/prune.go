package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// Prune removes the leftovers of killed runs and returns the names of what it removed. It keeps
// running clusters and those that a living run creates or removes. It inspects the machine, not
// only the records: it also removes cgroups and bridges of the testbed that no living cluster owns.
func (t *Testbed) Prune(ctx context.Context) (removed []string, err error) {
	names, err := t.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		gone, err := t.pruneCluster(ctx, name)
		if err != nil {
			return removed, err
		}
		if gone {
			removed = append(removed, "cluster "+name)
		}
	}
	orphans, err := t.pruneOrphans(ctx)
	return append(removed, orphans...), err
}

// PruneCache removes cache entries that no current recipe and no cluster uses.
func (t *Testbed) PruneCache(ctx context.Context) (removed []string, err error) {
	clusters, err := t.Clusters()
	if err != nil {
		return nil, err
	}
	var used []string
	for _, c := range clusters {
		used = append(used, c.s.Root, c.s.Bin)
	}
	entries, err := t.builder.RemoveSuperseded(ctx, used)
	for _, entry := range entries {
		removed = append(removed, "cache entry "+entry)
	}
	return removed, err
}

// pruneCluster removes a recorded cluster, unless it is up or in use.
func (t *Testbed) pruneCluster(ctx context.Context, name string) (bool, error) {
	number, release, err := t.abandoned(ctx, name)
	if release == nil || err != nil {
		return false, err
	}
	defer release()
	return true, t.sweep(ctx, name, number)
}

// abandoned takes the busy lock of a cluster that is not up and not in use. The caller holds the
// testbed's lock, so that no claim is in progress.
func (t *Testbed) abandoned(ctx context.Context, name string) (number int, release func(), err error) {
	unlock, err := machine.Lock(ctx, t.lockFile(), nil)
	if err != nil {
		return 0, nil, err
	}
	defer unlock()
	s, err := t.load(name)
	switch {
	case errors.Is(err, ErrNotFound):
		number = -1 // no record was written, so there is no bridge
	case err != nil:
		return 0, nil, err
	case s.Phase == PhaseUp:
		return 0, nil, nil
	default:
		number = s.Number
	}
	release, err = machine.TryLock(t.busyFile(name))
	if errors.Is(err, machine.ErrLocked) || errors.Is(err, os.ErrNotExist) {
		return 0, nil, nil
	}
	return number, release, err
}

// pruneOrphans removes cgroups and bridges without a record, and partly removed directories.
func (t *Testbed) pruneOrphans(ctx context.Context) (removed []string, err error) {
	// Nobody can claim a name or number meanwhile.
	unlock, err := machine.Lock(ctx, t.lockFile(), nil)
	if err != nil {
		return nil, err
	}
	defer unlock()
	names, err := t.names()
	if err != nil {
		return nil, err
	}
	groups, err := t.pruneGroups(names)
	removed = append(removed, groups...)
	if err != nil {
		return removed, err
	}
	if err := pruneBuildContainers(); err != nil {
		return removed, err
	}
	bridges, err := t.pruneBridges(names)
	removed = append(removed, bridges...)
	if err != nil {
		return removed, err
	}
	halves, err := filepath.Glob(filepath.Join(t.stateDir, "removing-*"))
	if err != nil {
		return removed, err
	}
	for _, dir := range halves {
		if err := errors.Join(machine.UnmountBelow(dir), os.RemoveAll(dir)); err != nil {
			return removed, err
		}
		removed = append(removed, "directory "+filepath.Base(dir))
	}
	return removed, t.tidy()
}

func (t *Testbed) pruneGroups(living []string) (removed []string, err error) {
	root, err := machine.NewCgroup()
	if err != nil {
		return nil, err
	}
	groups, err := root.Children()
	if err != nil {
		return nil, err
	}
	for _, name := range groups {
		if slices.Contains(living, name) || machine.OfLivingBuild(name) {
			continue
		}
		group, err := machine.NewCgroup(name)
		if err != nil {
			return removed, err
		}
		if err := errors.Join(group.Kill(machine.Timeout(killDeadline)), group.Remove()); err != nil {
			return removed, err
		}
		removed = append(removed, "group "+name)
	}
	return removed, nil
}

// pruneBuildContainers removes the containers of killed builds. Those of a running build have a
// cgroup.
func pruneBuildContainers() error {
	root, err := machine.NewCgroup()
	if err != nil {
		return err
	}
	groups, err := root.Children()
	if err != nil || slices.ContainsFunc(groups, machine.OfLivingBuild) {
		return err
	}
	return machine.ForgetContainers(machine.BuildContainers + "*")
}

func (t *Testbed) pruneBridges(living []string) (removed []string, err error) {
	var numbers []int
	for _, name := range living {
		if s, err := t.load(name); err == nil {
			numbers = append(numbers, s.Number)
		}
	}
	links, err := machine.LinksWithPrefix(bridgePrefix)
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		number, err := strconv.Atoi(strings.TrimPrefix(link, bridgePrefix))
		if err != nil || slices.Contains(numbers, number) {
			continue
		}
		if err := sweepNetwork(number); err != nil {
			return removed, err
		}
		removed = append(removed, "bridge "+link)
	}
	return removed, nil
}
