package main

import (
	"context"
	"errors"
	"log/slog"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/controller/clusterrelease"
	"github.com/refit-dev/refit/internal/controller/clusterupgrade"
	"github.com/refit-dev/refit/internal/controller/component"
	"github.com/refit-dev/refit/internal/controller/etcdbackup"
	"github.com/refit-dev/refit/internal/controller/metrics"
	"github.com/refit-dev/refit/internal/controller/nodeupgrade"
	"github.com/refit-dev/refit/internal/controller/orphan"
	"github.com/refit-dev/refit/internal/controller/traces"
	"github.com/refit-dev/refit/internal/controller/upgradeschedule"
)

// controllers is the list of everything that runs.
var controllers = []controller.Setup{
	clusterupgrade.Setup, nodeupgrade.Setup, orphan.Setup, clusterrelease.Setup, component.Setup, etcdbackup.Setup, metrics.Setup, traces.Setup,
	upgradeschedule.Setup,
}

// standalone runs the controllers in this process. It returns once they are the leader; stop ends
// them and waits for their end.
func (a *app) standalone(ctx context.Context, c *connection, log string) (stop func(), err error) {
	if err := a.Note(c.ExpectNoControllers(ctx)); err != nil {
		return nil, err
	}
	out, err := terminal.OpenLog(log)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(c.config)
	config.UserAgent = "refit-standalone/" + versionOf().Version
	end, err := controller.Lead(ctx, a.controllers, controller.Options{Config: config, Log: slog.New(slog.NewJSONHandler(out, nil)), Controllers: controllers})
	if errors.Is(err, controller.ErrNotLeading) {
		err = c.NotLeading(ctx, controller.LeadTimeout)
	}
	if err != nil {
		_ = out.Close() // a log: nothing depends on it
		return nil, err
	}
	return func() {
		end()
		_ = out.Close()
	}, nil
}
