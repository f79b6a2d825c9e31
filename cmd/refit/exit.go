package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/cli/text"
)

// How the process ends. Scripts rely on these; the help of the root command lists them.
const (
	exitDone        = 0
	exitFailed      = 1   // it could not be done
	exitUsage       = 2   // what was asked for makes no sense: a flag, a manifest, a version that cannot be reached
	exitBlocked     = 3   // a preflight finding stands in the way
	exitNotYet      = 4   // still in progress, or timed out
	exitInterrupted = 130 // Ctrl-C, as shells count it
)

// errBlocked ends a command whose answer, already printed, is that something stands in the way.
var errBlocked = errors.New("blocked by preflight")

// A usageError is something asked for that makes no sense.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// A timeoutError is that something took longer than it was given.
type timeoutError struct{ error }

func (e timeoutError) Unwrap() error { return e.error }

// A leftError is that a person left something that goes on, and what they should know of it.
type leftError struct{ error }

func (e leftError) Unwrap() error { return e.error }

// exit is the one place where an error becomes an exit code. It says on stderr what a person has to know and has not been told yet.
func (a *app) exit(ctx context.Context, err error, command string) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errBlocked):
		return exitBlocked
	case isLeft(err):
		a.complain(err)
		return exitInterrupted
	case ctx.Err() != nil && a.changing:
		fmt.Fprintf(a.err, "%s: interrupted; what was done stays, and the same command goes on\n", a.name)
		return exitInterrupted
	case ctx.Err() != nil: // only a signal ends this context
		fmt.Fprintf(a.err, "%s: interrupted; nothing was changed\n", a.name)
		return exitInterrupted
	}
	a.complain(err)
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(a.err, "`%s --help` tells how it is used.\n", command)
		return exitUsage
	}
	if _, ok := errors.AsType[timeoutError](err); ok {
		return exitNotYet
	}
	return exitFailed
}

func isLeft(err error) bool {
	_, ok := errors.AsType[leftError](err)
	return ok
}

// complain writes an error in one line. Part of it may come from a server, so it is cleaned like everything else.
func (a *app) complain(err error) {
	fmt.Fprintf(a.err, "%s: %s\n", a.name, strings.TrimSuffix(strings.Join(strings.Fields(text.Clean(err.Error())), " "), "."))
}
