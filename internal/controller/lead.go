package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// LeadTimeout is the timeout of leader election: a leader that crashed holds its Lease for 15 s.
const LeadTimeout = 30 * time.Second

// ErrNotLeading is returned if other controllers still lead after LeadTimeout.
var ErrNotLeading = errors.New("other controllers lead")

// Lead calls run, which is Run outside of tests, and returns once the controllers lead. stop ends
// them and waits for their end.
func Lead(ctx context.Context, run func(context.Context, Options) error, o Options) (stop func(), err error) {
	running, cancel := context.WithCancel(ctx)
	leads, ended := make(chan struct{}), make(chan error, 1)
	o.OnStartedLeading = sync.OnceFunc(func() { close(leads) })
	go func() { ended <- run(running, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
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
	case <-time.After(LeadTimeout):
		err = ErrNotLeading
	}
	stop()
	return nil, err
}
