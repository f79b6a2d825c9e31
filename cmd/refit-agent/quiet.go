package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// refuseOpenUpgrade refuses to replace or remove an agent during an upgrade, which another agent
// may not be able to finish.
func (s *site) refuseOpenUpgrade() error {
	loaded, err := s.load()
	if err != nil {
		return err
	}
	status, err := agent.Status(loaded)
	if err != nil {
		return err
	}
	// The journal decides if the host state was not stored. Any agent can start over or leave out
	// an upgrade that has only prefetched: its order may have been withdrawn.
	switch {
	case status.State == nil && status.Host.Open == "":
		return nil
	case status.State != nil && (status.State.Outcome != "" || status.State.Order.Permit != refitv1alpha1.PermitApply && !status.State.Changed()):
		return nil
	}
	what := status.Host.Open
	if status.State != nil {
		w := status.State.Upgrade
		what = w.Release.Name + " (" + w.From + " to " + w.To + "), operation " + w.Operation.Name
	}
	return node.Transient("UpgradeOpen", nil,
		"Wait until it is finished; on the host, run `refit-agent status` for its progress, or `refit-agent undo` to roll back",
		"an upgrade is in progress on this host, so its agent is not changed: %s", what)
}

// quiet stops the service of a host without an open upgrade, and prevents a new one until the lock
// is closed.
func (s *site) quiet(ctx context.Context) (io.Closer, error) {
	if err := s.refuseOpenUpgrade(); err != nil {
		return nil, err
	}
	if err := s.service.Stop(ctx); err != nil {
		return nil, err
	}
	lock, err := s.lock()
	if err != nil {
		return nil, errors.Join(err, s.resume(ctx))
	}
	if err := s.refuseOpenUpgrade(); err != nil { // an order may have arrived in between
		return nil, errors.Join(err, lock.Close(), s.resume(ctx))
	}
	return lock, nil
}

// replace applies changes and starts the service. Keys and pins change at any time, because the
// agent reads them whenever it needs them; the rest only without an open upgrade.
func (s *site) replace(ctx context.Context, all changes, start bool) error {
	keys, others := all.split(s.path(settings.Keys), s.path(filepath.Dir(backup.PinsFile)), s.path(filepath.Dir(etcdbackup.LocalDirectory)))
	if err := s.apply(keys); err != nil {
		return err
	}
	switch {
	case len(others) == 0 && start:
		return s.start(ctx, false)
	case len(others) == 0:
		return nil
	case !start:
		if err := s.refuseOpenUpgrade(); err != nil {
			return err
		}
		return s.apply(others)
	}
	// An order may arrive after the first check, so the second one runs without an agent.
	lock, err := s.quiet(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(s.apply(others), lock.Close())
	// Restart even after an error: an incomplete change is no reason to leave a host without its
	// agent.
	return errors.Join(err, s.start(ctx, true))
}

// resume starts the service again, if it is installed.
func (s *site) resume(ctx context.Context) error {
	if !exists(s.path(unitFile)) {
		return nil
	}
	return s.service.Start(ctx)
}

// lock takes the agent's lock. A host without a state directory has neither lock nor agent.
func (s *site) lock() (io.Closer, error) {
	loaded, err := s.load()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(loaded.StateDir); errors.Is(err, fs.ErrNotExist) {
		return nothing{}, nil
	}
	lock, err := host.Lock(loaded.LockFile())
	if err != nil {
		return nil, err
	}
	return lock, nil
}

// nothing is the lock of a host without an agent.
type nothing struct{}

func (nothing) Close() error { return nil }
