package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refit-dev/refit/internal/cli/text"
)

// nextOf returns the commands to run next.
func nextOf(cmd *cobra.Command, a *app) text.Next {
	next := text.Next{Again: a.line(cmd, cmd.Name()), Plan: a.line(cmd, "plan"), Upgrade: a.line(cmd, "upgrade")}
	if cmd.Flags().Changed("from") {
		next.Upgrade = "" // the current context may be another cluster than the saved one
	}
	return next
}

// line is a command line to copy: another command with those flags of this one that it supports, so
// that it targets the same cluster. Output flags are omitted.
func (a *app) line(cmd *cobra.Command, command ...string) string {
	words := append([]string{a.name}, command...)
	other, _, err := cmd.Root().Find(command)
	if err != nil {
		panic(err) // there is no such command: a bug
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && other.Flags().Lookup(flag.Name) != nil {
			words = append(words, text.FlagWords(flag.Name, flag.Value)...)
		}
	})
	return strings.Join(words, " ")
}
