package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is an invalid command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// noArguments rejects arguments beside flags, and an unknown command.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasParent() {
		return usagef("unexpected argument %q: %s accepts flags only", args[0], c.Name())
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown command %q", args[0])
}

// rejectContradictions makes flags that exclude each other a usage error, in the words of the other
// errors.
func rejectContradictions(c *cobra.Command, _ []string) (err error) {
	if c.ValidateFlagGroups() == nil {
		return nil
	}
	var given []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Annotations[exclusive] != nil {
			given = append(given, "--"+f.Name)
		}
	})
	return usagef("%s exclude each other", strings.Join(given, " and "))
}

// exclusive is the annotation that cobra's MarkFlagsMutuallyExclusive sets.
const exclusive = "cobra_annotation_mutually_exclusive"

// report prints the error of a command and returns the exit code.
func report(errs io.Writer, c *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(errs, "refit-agent: "+describe(err))
	if _, usage := errors.AsType[usageError](err); !usage {
		return 1
	}
	fmt.Fprintf(errs, "Run `%s --help` for usage.\n", c.CommandPath())
	return 2
}
