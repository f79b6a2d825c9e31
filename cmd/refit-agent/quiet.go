package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// refuseAtWork refuses to touch an agent that is in the midst of a work: what it began another one might not understand, or nobody would finish.
func (s *site) refuseAtWork() error {
	loaded, err := s.load()
	if err != nil {
		return err
	}
	status, err := agent.Status(loaded)
	if err != nil {
		return err
	}
	// The journal decides where the memory of it was cut off.
	if status.Host.Open == "" && (status.State == nil || status.State.Outcome != "") {
		return nil
	}
	what := status.Host.Open
	if status.State != nil {
		w := status.State.Upgrade
		what = w.Release.Name + " (" + w.From + " to " + w.To + "), operation " + w.Operation.Name
	}
	return node.Transient("WorkOpen", nil, "let it end; refit-agent status on the host tells how far it is, and refit-agent undo puts the host back",
		"this host is in the midst of a work and its agent is left alone: %s", what)
}

// quiet stops the service of a host without an open work, and keeps others from starting a work until the lock is closed.
func (s *site) quiet(ctx context.Context) (io.Closer, error) {
	if err := s.refuseAtWork(); err != nil {
		return nil, err
	}
	if err := s.service.Stop(ctx); err != nil {
		return nil, err
	}
	lock, err := s.lock()
	if err != nil {
		return nil, errors.Join(err, s.goOn(ctx))
	}
	if err := s.refuseAtWork(); err != nil { // an order may have come in between
		return nil, errors.Join(err, lock.Close(), s.goOn(ctx))
	}
	return lock, nil
}

// goOn starts again what was stopped, if there was a service.
func (s *site) goOn(ctx context.Context) error {
	if !there(s.path(unitFile)) {
		return nil
	}
	return s.service.Start(ctx)
}

// lock is the agent's own. A host without a state has none, and no agent.
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
