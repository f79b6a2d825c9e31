package steps

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestWaitsEndWithThePermit(t *testing.T) {
	failure := errors.New("the Deployment has failed")
	untilDone := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, c := range map[string]struct {
		held, expired bool
		wait          func(context.Context) error
		want          error
	}{
		"permitted":                    {wait: func(context.Context) error { return nil }},
		"held":                         {held: true, wait: untilDone, want: ErrHeld},
		"past its limit":               {expired: true, wait: untilDone, want: context.DeadlineExceeded},
		"failed":                       {wait: func(context.Context) error { return failure }, want: failure},
		"complete although it is held": {held: true, wait: func(context.Context) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			permitted, hold := context.WithCancel(t.Context())
			defer hold()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			if c.expired {
				ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
			}
			defer cancel()
			if c.held {
				hold()
			}
			if err := (&Run{Permitted: permitted}).await(ctx, c.wait); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if err := (&Run{}).await(t.Context(), func(context.Context) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("a step of a rollback: %v", err)
	}
}
