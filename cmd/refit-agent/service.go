package main

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/host"
)

// service is the agent's, as the host's service manager knows it. Tests have another one.
type service interface {
	// Start and Restart read the unit anew and return when it runs. To start one that runs does nothing.
	Start(ctx context.Context) error
	Restart(ctx context.Context) error
	// Stop returns when it has ended. One that is not there has.
	Stop(ctx context.Context) error
	// Forget makes the manager forget a unit that is gone.
	Forget(ctx context.Context) error
	Close()
}

// systemdService is connected when it is first needed: after the root has changed.
type systemdService struct{ systemd *host.Systemd }

func (s *systemdService) connect(ctx context.Context) error {
	if s.systemd != nil {
		return nil
	}
	systemd, err := host.ConnectSystemd(ctx)
	s.systemd = systemd
	return err
}

func (s *systemdService) Close() {
	if s.systemd != nil {
		s.systemd.Close()
	}
}

func (s *systemdService) Start(ctx context.Context) error {
	if err := s.Forget(ctx); err != nil {
		return err
	}
	return s.systemd.Start(ctx, unitName)
}

func (s *systemdService) Restart(ctx context.Context) error {
	if err := s.Forget(ctx); err != nil {
		return err
	}
	return s.systemd.Restart(ctx, unitName)
}

func (s *systemdService) Stop(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	unit, err := s.systemd.Unit(ctx, unitName)
	if err != nil || !unit.Exists {
		return err
	}
	return s.systemd.Stop(ctx, unitName)
}

func (s *systemdService) Forget(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	return s.systemd.Reload(ctx)
}
