package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/terminal"
)

// format is the format in which a result is printed.
type format struct{ terminal.Format }

func (f *format) addFlags(cmd *cobra.Command, more ...string) {
	f.Allowed = append([]string{terminal.FormatText, terminal.FormatJSON, terminal.FormatYAML}, more...)
	f.addOutputFlag(cmd, strings.Join(f.Allowed, ", "))
}

// addLineFlags adds the flags of a command that follows an operation: JSON is one line per change.
func (f *format) addLineFlags(cmd *cobra.Command) {
	f.Allowed = []string{terminal.FormatText, terminal.FormatJSON}
	f.addOutputFlag(cmd, "text, or json with a line for each change")
}

func (f *format) addOutputFlag(cmd *cobra.Command, formats string) {
	cmd.Flags().StringVarP(&f.Output, "output", "o", terminal.FormatText, "the output `FORMAT`: "+formats)
	mustComplete(cmd, "output", cobra.FixedCompletions(f.Allowed, cobra.ShellCompDirectiveNoFileComp))
}

func (f *format) addWideFlag(cmd *cobra.Command, lists string) {
	f.HasWide = true
	cmd.Flags().BoolVar(&f.Wide, "wide", false, "list every "+lists)
}

// mustComplete sets how a shell completes a flag. It panics if there is no such flag.
func mustComplete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}
