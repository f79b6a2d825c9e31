// Package exit has the exit codes of the CLI and the errors that select them.
package exit

import (
	"context"
	"errors"
	"fmt"
)

// The exit codes. Scripts rely on them; the help of the root command lists them.
const (
	Done        = 0
	Failed      = 1
	Usage       = 2   // invalid input: a flag, a manifest, an unreachable version
	Blocked     = 3   // a preflight finding blocks
	NotYet      = 4   // still in progress, or timed out
	Interrupted = 130 // Ctrl-C, as shells count it
)

// ErrBlocked ends a command whose result, already printed, has a blocking finding.
var ErrBlocked = errors.New("blocked by preflight")

// IfBlocked returns ErrBlocked if a finding blocks.
func IfBlocked(blocked bool) error {
	if blocked {
		return ErrBlocked
	}
	return nil
}

// UsageError is invalid input.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// AsUsage returns an error of the user's input as a UsageError.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// TimeoutError is the error of an operation that exceeded its timeout.
type TimeoutError struct{ Err error }

func (e TimeoutError) Error() string { return e.Err.Error() }

func (e TimeoutError) Unwrap() error { return e.Err }

// LeftError ends a command that the user interrupted while the operation continues. Its message has
// the state of the operation and the command to follow it again.
type LeftError struct{ Err error }

func (e LeftError) Error() string { return e.Err.Error() }

func (e LeftError) Unwrap() error { return e.Err }

// IsLeft is true for a LeftError.
func IsLeft(err error) bool {
	_, ok := errors.AsType[LeftError](err)
	return ok
}

// WhenInterrupted returns a LeftError with this text for an error of a command that was interrupted
// before it could return one itself. Other errors stay as they are.
func WhenInterrupted(ctx context.Context, err error, format string, args ...any) error {
	if err == nil || ctx.Err() == nil || IsLeft(err) {
		return err
	}
	return LeftError{Err: fmt.Errorf(format, args...)}
}

// Code is the exit code for the error of a command. Only a signal ends the context of a command.
func Code(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, ErrBlocked):
		return Blocked
	case IsLeft(err), ctx.Err() != nil:
		return Interrupted
	}
	if _, ok := errors.AsType[UsageError](err); ok {
		return Usage
	}
	if _, ok := errors.AsType[TimeoutError](err); ok {
		return NotYet
	}
	return Failed
}
