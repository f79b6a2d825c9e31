package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/controller/clusterrelease"
	"github.com/refit-dev/refit/internal/controller/clusterupgrade"
	"github.com/refit-dev/refit/internal/controller/metrics"
	"github.com/refit-dev/refit/internal/controller/nodeupgrade"
	"github.com/refit-dev/refit/internal/controller/orphan"
)

// leadTimeout is the timeout of leader election: a leader that crashed holds its Lease for 15 s.
const leadTimeout = 30 * time.Second

// controllers is the list of everything that runs.
var controllers = []controller.Setup{clusterupgrade.Setup, nodeupgrade.Setup, orphan.Setup, clusterrelease.Setup, metrics.Setup}

// standalone runs the controllers in this process. It returns once they are the leader; stop ends
// them and waits for their end.
func (a *app) standalone(ctx context.Context, c *connection, log string) (stop func(), err error) {
	found, err := c.Controllers(ctx)
	switch {
	case err != nil:
		return nil, err
	case found.Ready:
		return nil, fmt.Errorf("the controllers are running in %s already. Run the command without --standalone", c.Name)
	}
	if found.Leader != "" {
		fmt.Fprintf(a.Err, "Waiting for %s, which leads the controllers of %s, to release its Lease.\n", text.Clean(found.Leader), c.Name)
	}
	out, err := terminal.OpenLog(log)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(c.config)
	config.UserAgent = "refit-standalone/" + versionOf().Version
	run, cancel := context.WithCancel(ctx)
	leads, ended := make(chan struct{}), make(chan error, 1)
	lead := sync.OnceFunc(func() { close(leads) })
	go func() {
		ended <- a.controllers(run, controller.Options{
			Config: config, Log: slog.New(slog.NewJSONHandler(out, nil)), Controllers: controllers, OnStartedLeading: lead,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		_ = out.Close() // a log: nothing depends on it
	})
	select {
	case <-leads:
		return stop, nil
	case err = <-ended:
		ended <- err // for stop
		if err == nil {
			err = ctx.Err()
		}
		err = fmt.Errorf("cannot run the controllers: %w", err)
	case <-time.After(leadTimeout):
		err = c.NotLeading(ctx, leadTimeout)
	}
	stop()
	return nil, err
}
