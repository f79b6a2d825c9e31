package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refit-dev/refit/cmd/refit/text"
)

// nextOf is what to type after reading an answer. Only commands that this build has are spoken of.
func nextOf(cmd *cobra.Command, a *app) text.Next {
	next := text.Next{Again: a.line(cmd, cmd.Name()), Plan: a.line(cmd, "plan")}
	for _, other := range cmd.Root().Commands() {
		if other.Name() == "upgrade" {
			next.Upgrade = a.line(cmd, "upgrade")
		}
	}
	return next
}

// line is a command line with the flags that a command was given, so that what is printed can be copied and is about the same cluster. How the
// answer is printed is left out.
func (a *app) line(cmd *cobra.Command, command string) string {
	words := []string{a.name, command}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || flag.Name == "output" || flag.Name == "wide" || flag.Name == "verbose" || flag.Name == "timeout" {
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			words = append(words, "--"+flag.Name, text.Quote(value))
		}
	})
	return strings.Join(words, " ")
}
