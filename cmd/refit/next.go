package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refit-dev/refit/internal/cli/text"
)

// nextOf is what to type after reading an answer.
func nextOf(cmd *cobra.Command, a *app) text.Next {
	return text.Next{Again: a.line(cmd, cmd.Name()), Plan: a.line(cmd, "plan"), Upgrade: a.line(cmd, "upgrade")}
}

// line is a command line with those flags that a command was given and the other one has, so that what is printed can be copied and is about the same
// cluster. How the answer is printed is left out.
func (a *app) line(cmd *cobra.Command, command string) string {
	words := []string{a.name, command}
	other, _, err := cmd.Root().Find([]string{command})
	if err != nil {
		panic(err) // we print a command that we do not have
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || other.Flags().Lookup(flag.Name) == nil ||
			flag.Name == "output" || flag.Name == "wide" || flag.Name == "verbose" || flag.Name == "timeout" {
			return
		}
		if flag.Value.Type() == "bool" {
			words = append(words, "--"+flag.Name)
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
