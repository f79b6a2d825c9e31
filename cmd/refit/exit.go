package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
)

// exit returns the exit code for the error of a command, and prints the error unless the result
// shows it already.
func (a *app) exit(ctx context.Context, err error, command string) int {
	switch {
	case err == nil, errors.Is(err, exit.ErrBlocked):
	case exit.IsLeft(err) || ctx.Err() == nil:
		a.complain(err)
	case a.changing:
		fmt.Fprintf(a.Err, "%s: interrupted; completed changes remain, run the same command again to continue\n", a.name)
	default:
		fmt.Fprintf(a.Err, "%s: interrupted; nothing was changed\n", a.name)
	}
	code := exit.Code(ctx, err)
	if code == exit.Usage {
		fmt.Fprintf(a.Err, "Run `%s --help` for usage.\n", command)
	}
	return code
}

// complain prints an error in one line. Part of it may come from a server, so it goes through
// text.Clean.
func (a *app) complain(err error) {
	fmt.Fprintf(a.Err, "%s: %s\n", a.name, strings.TrimSuffix(strings.Join(strings.Fields(text.Clean(err.Error())), " "), "."))
}

// note prints what the user should know besides the result, and returns the error.
func (a *app) note(note string, err error) error {
	if note != "" {
		fmt.Fprintln(a.Err, text.Clean(note))
	}
	return err
}
