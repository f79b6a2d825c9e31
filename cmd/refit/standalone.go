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

// leadWithin is how long it may take to get the lead: a leader that died without a word holds its Lease for 15 seconds.
const leadWithin = 30 * time.Second

// standalone runs the controllers in this process until stop is called, which returns when they have ended. It returns once they lead.
func (o *operations) standalone(ctx context.Context, log string) (stop func(), err error) {
	c, err := o.controllers(ctx)
	switch {
	case err != nil:
		return nil, err
	case c.ready:
		return nil, fmt.Errorf("the controllers run in %s already and would carry the upgrade out: leave --standalone out", o.cluster)
	}
	if c.leader != "" {
		fmt.Fprintf(o.app.err, "%s carries upgrades out in %s, or did until a moment ago: waiting for it to let go.\n", text.Clean(c.leader), o.cluster)
	}
	out, err := openLog(log)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(o.config)
	config.UserAgent = "refit-standalone/" + versionOf().Version
	run, cancel := context.WithCancel(ctx)
	leads, ended := make(chan struct{}), make(chan error, 1)
	lead := sync.OnceFunc(func() { close(leads) })
	go func() {
		ended <- o.app.controllers(run, controller.Options{
			Config: config, Log: slog.New(slog.NewJSONHandler(out, nil)), OnStartedLeading: lead,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		_ = out.Close() // a log: nobody waits for it
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
	case <-time.After(leadWithin):
		err = o.notLed(ctx)
	}
	stop()
	return nil, err
}

// notLed says why these controllers did not get the lead.
func (o *operations) notLed(ctx context.Context) error {
	c, err := o.controllers(ctx)
	switch {
	case err != nil:
		return err
	case c.leader != "":
		return fmt.Errorf("%s carries upgrades out in %s: leave --standalone out to follow it, or end it there first", c.leader, o.cluster)
	}
	return errors.New("the lead of the controllers was not got within " + leadWithin.String() +
		": is the namespace " + controller.Namespace + " there, and may you write Leases in it? --log FILE tells more")
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// openLog opens where the controllers write what they do. They never write between the lines of what a person reads.
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
