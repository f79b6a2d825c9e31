// Package following turns the course of an operation that a command follows into the command's
// error, which selects the exit code.
package following

import (
	"context"
	"errors"
	"fmt"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Following is how long an operation is followed.
type Following struct {
	Limit time.Duration // 0: until it ends

	started time.Time // when the limit began; zero if it has not
}

// Check validates the limit.
func (f *Following) Check() error {
	if f.Limit < 0 {
		return exit.Usagef("--timeout: %s is not a positive duration", f.Limit)
	}
	return nil
}

// Follow follows an operation to its end with the given function, which returns the last progress.
// If the user interrupts, the error has the operation's further course and the command to follow it
// again, which left returns.
func (f *Following) Follow(
	ctx context.Context, operation string, follow func(context.Context) (*cliv1alpha1.Operation, error), left func(last *cliv1alpha1.Operation) string,
) error {
	var last *cliv1alpha1.Operation
	err := f.Until(ctx, operation, func(ctx context.Context) (err error) {
		last, err = follow(ctx)
		return err
	}, func() string { return left(last) })
	if err == nil && last.Phase == string(refitv1alpha1.PhaseAborted) {
		if last.ComponentsOnly {
			return fmt.Errorf("%s was aborted, with %d of %s upgraded", operation, last.Components.Done, phrase.Count(last.Components.Total, "component"))
		}
		return fmt.Errorf("%s was aborted, with %d of %d nodes at %s", operation, last.Nodes.Done, last.Nodes.Total, last.To)
	}
	return err
}

// Until follows something with a name until it ends, the limit expires or the user interrupts. left
// returns its further course and the command to follow it again.
func (f *Following) Until(ctx context.Context, name string, follow func(context.Context) error, left func() string) error {
	limited, cancel := f.limit(ctx)
	defer cancel()
	err := follow(limited)
	switch {
	case ctx.Err() != nil:
		return exit.LeftError{Err: errors.New(left())}
	case limited.Err() != nil:
		return exit.TimeoutError{Err: fmt.Errorf("%s did not end within %s. %s", name, f.Limit, left())}
	}
	return err
}
