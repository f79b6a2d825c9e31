package main

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/host"
)

// service is the systemd service of the agent. Tests use a fake.
type service interface {
	// Start and Restart reload the unit and return when it runs. Starting a running service does
	// nothing.
	Start(ctx context.Context) error
	Restart(ctx context.Context) error
	// Stop returns when the service has stopped, or does not exist.
	Stop(ctx context.Context) error
	// Forget makes systemd forget a removed unit.
	Forget(ctx context.Context) error
	Close()
}

// systemdService connects on first use, after the root directory has changed.
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

// startIfInstalled starts the service if the host has its unit.
func (s *systemdService) startIfInstalled(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	unit, err := s.systemd.Unit(ctx, unitName)
	if err != nil || !unit.Exists {
		return err
	}
	return s.systemd.Start(ctx, unitName)
}
