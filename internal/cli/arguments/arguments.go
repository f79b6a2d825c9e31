// Package arguments validates the arguments of commands and the values of flags.
package arguments

import (
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/cli/exit"
)

// First returns the first argument, or an empty string.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Operation accepts the name of an operation, or none.
func Operation(args []string) error {
	if len(args) > 1 {
		return exit.Usagef("unexpected argument %q: name one operation", args[1])
	}
	return nil
}

// WithOperation accepts an argument, and the name of an operation or none.
func WithOperation(argument string) func([]string) error {
	return func(args []string) error {
		if len(args) < 1 || len(args) > 2 {
			return exit.Usagef("expected %s and at most the name of one operation", argument)
		}
		return nil
	}
}

// One accepts exactly one argument; request is the error without it.
func One(request string) func([]string) error { return Exactly(1, request) }

// Exactly accepts that many arguments; request is the error without them.
func Exactly(number int, request string) func([]string) error {
	return func(args []string) error {
		if len(args) != number {
			return exit.Usagef("%s", request)
		}
		return nil
	}
}

// OneOf returns the allowed value that a flag has, in whichever case the user typed it.
func OneOf(flag, value string, allowed []string) (string, error) {
	for _, a := range allowed {
		if strings.EqualFold(value, a) {
			return a, nil
		}
	}
	return "", fmt.Errorf("%s: %q is none of %s", flag, value, strings.Join(allowed, ", "))
}
