package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/controller"
)

// leadTimeout is how long leader election may take: a leader that crashed holds its Lease for 15
// seconds.
const leadTimeout = 30 * time.Second

// standalone runs the controllers in this process until stop is called, which returns when they
// have ended. It returns once they lead.
func (a *app) standalone(ctx context.Context, c *connection, log string) (stop func(), err error) {
	found, err := c.Controllers(ctx)
	switch {
	case err != nil:
		return nil, err
	case found.Ready:
		return nil, fmt.Errorf("the controllers run in %s already and would carry the upgrade out: leave --standalone out", c.Name)
	}
	if found.Leader != "" {
		fmt.Fprintf(a.Err, "%s carries upgrades out in %s, or did until a moment ago: waiting for it to let go.\n", text.Clean(found.Leader), c.Name)
	}
	out, err := openLog(log)
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
			Config: config, Log: slog.New(slog.NewJSONHandler(out, nil)), OnStartedLeading: lead,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		_ = out.Close() // a log: an error is of no use to anybody
	})
	select {
	case <-leads:
		return stop, nil
	case err = <-ended:
		ended <- err // for stop
		if err == nil {
			err = ctx.Err()
		}
		err = fmt.Errorf("the controllers cannot run: %w", err)
	case <-time.After(leadTimeout):
		err = notLeading(ctx, c)
	}
	stop()
	return nil, err
}

// notLeading explains why these controllers did not become the leader.
func notLeading(ctx context.Context, c *connection) error {
	found, err := c.Controllers(ctx)
	switch {
	case err != nil:
		return err
	case found.Leader != "":
		return fmt.Errorf("%s carries upgrades out in %s: leave --standalone out to follow it, or end it there first", found.Leader, c.Name)
	}
	return errors.New("the lead of the controllers was not got within " + leadTimeout.String() +
		": is the namespace " + controller.Namespace + " there, and may you write Leases in it? --log FILE tells more")
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// openLog opens the log of the controllers. They never write between the lines of the output.
func openLog(name string) (io.WriteCloser, error) {
	if name == "" {
		return discard{io.Discard}, nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the log cannot be written: %w", err)
	}
	return file, nil
}
