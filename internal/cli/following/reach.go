package following

import (
	"context"
	"fmt"
	"time"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
)

// retryInterval is the time between two attempts to reach an API server.
const retryInterval = 2 * time.Second

// Reach tries until the API server is reachable or the limit expires, which begins here. It reports
// the first error that it waits for.
func (f *Following) Reach(ctx context.Context, report func(error), try func(context.Context) error) error {
	f.started = time.Now()
	limited, cancel := f.limit(ctx)
	defer cancel()
	for reported := false; ; reported = true {
		err := try(limited)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil || !connect.Unreachable(err):
			return err
		case !reported:
			report(fmt.Errorf("%w. The command keeps trying", err))
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return exit.TimeoutError{Err: fmt.Errorf("not reached within %s: %w", f.Limit, err)}
		case <-time.After(retryInterval):
		}
	}
}

// limit returns a context that ends with the limit, counted from Reach if it was called.
func (f *Following) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.Limit <= 0 {
		return context.WithCancel(ctx)
	}
	if f.started.IsZero() {
		f.started = time.Now()
	}
	return context.WithDeadline(ctx, f.started.Add(f.Limit))
}
