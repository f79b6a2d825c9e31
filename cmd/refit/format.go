package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/manifest"
)

// The formats of a result.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatYAML     = "yaml"
	formatManifest = "manifest"
)

// format is the format in which a result is printed.
type format struct {
	output  string
	wide    bool
	allowed []string
	flags   *pflag.FlagSet
}

func (f *format) addFlags(cmd *cobra.Command, more ...string) {
	f.flags, f.allowed = cmd.Flags(), append([]string{formatText, formatJSON, formatYAML}, more...)
	cmd.Flags().StringVarP(&f.output, "output", "o", formatText, "the output `FORMAT`: "+strings.Join(f.allowed, ", "))
	mustComplete(cmd, "output", cobra.FixedCompletions(f.allowed, cobra.ShellCompDirectiveNoFileComp))
}

// addLineFlags adds the flags of a command that follows an operation: JSON is one line per change.
func (f *format) addLineFlags(cmd *cobra.Command) {
	f.flags, f.allowed = cmd.Flags(), []string{formatText, formatJSON}
	cmd.Flags().StringVarP(&f.output, "output", "o", formatText, "the output `FORMAT`: text, or json with a line for each change")
	mustComplete(cmd, "output", cobra.FixedCompletions(f.allowed, cobra.ShellCompDirectiveNoFileComp))
}

func (f *format) check() error {
	value, err := manifest.OneOf("--output", f.output, f.allowed)
	if err == nil {
		f.output = value
		return nil
	}
	if f.flags.Lookup("wide") != nil && strings.EqualFold(f.output, "wide") {
		return exit.Usagef("%w; use --wide to list everything", err)
	}
	return exit.UsageError{Err: err}
}

// print prints a result as JSON, YAML or text.
func (f *format) print(a *app, result any, text func() string) error {
	switch f.output {
	case formatText:
		return a.Print([]byte(text()))
	case formatYAML:
		return a.PrintEncoded(document.YAML(result))
	}
	return a.PrintEncoded(document.JSON(result))
}

// mustComplete sets how a shell completes a flag. It panics if there is no such flag.
func mustComplete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}
