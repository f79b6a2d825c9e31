package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
)

// Exit returns the exit code for the error of a command, and prints the error unless the result
// shows it already. name is what the user types, and changing is true if the command has changed
// something.
func (s *Streams) Exit(ctx context.Context, err error, name, command string, changing bool) int {
	switch {
	case err == nil, errors.Is(err, exit.ErrBlocked):
	case changing && errors.Is(err, errNotConfirmed): // an earlier prompt of the same command was
		fmt.Fprintf(s.Err, "%s: not confirmed; completed changes remain\n", name)
	case exit.IsLeft(err) || ctx.Err() == nil:
		s.Complain(name, err)
	case changing:
		fmt.Fprintf(s.Err, "%s: interrupted; completed changes remain, run the same command again to continue\n", name)
	default:
		fmt.Fprintf(s.Err, "%s: interrupted; nothing was changed\n", name)
	}
	code := exit.Code(ctx, err)
	if code == exit.Usage {
		fmt.Fprintf(s.Err, "Run `%s --help` for usage.\n", command)
	}
	return code
}

// Complain prints an error in one line. Part of it may come from a server, so it goes through
// text.Clean.
func (s *Streams) Complain(name string, err error) {
	fmt.Fprintf(s.Err, "%s: %s\n", name, strings.TrimSuffix(strings.Join(strings.Fields(text.Clean(err.Error())), " "), "."))
}

// Note prints what the user should know besides the result, and returns the error.
func (s *Streams) Note(note string, err error) error {
	if note != "" {
		fmt.Fprintln(s.Err, text.Clean(note))
	}
	return err
}
