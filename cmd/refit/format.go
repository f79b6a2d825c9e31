package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
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
}

func (f *format) addFlags(cmd *cobra.Command, more ...string) {
	f.allowed = append([]string{formatText, formatJSON, formatYAML}, more...)
	cmd.Flags().StringVarP(&f.output, "output", "o", formatText, "the `FORM` of the answer: "+strings.Join(f.allowed, ", "))
	mustComplete(cmd, "output", cobra.FixedCompletions(f.allowed, cobra.ShellCompDirectiveNoFileComp))
}

// addLineFlags is for a command that follows an operation: JSON is a line for each change.
func (f *format) addLineFlags(cmd *cobra.Command) {
	f.allowed = []string{formatText, formatJSON}
	cmd.Flags().StringVarP(&f.output, "output", "o", formatText, "the `FORM` of the answer: text, or json with a line for each change")
	mustComplete(cmd, "output", cobra.FixedCompletions(f.allowed, cobra.ShellCompDirectiveNoFileComp))
}

func (f *format) check() error {
	switch {
	case slices.Contains(f.allowed, f.output):
		return nil
	case f.output == "wide":
		return exit.Usagef("--output: for every node and finding use --wide")
	}
	return exit.Usagef("--output: %q is none of %s", f.output, strings.Join(f.allowed, ", "))
}

// print prints a result as JSON, YAML or text.
func (f *format) print(a *app, result any, text func() string) error {
	encode := document.JSON
	switch f.output {
	case formatText:
		return a.Print([]byte(text()))
	case formatYAML:
		encode = document.YAML
	}
	out, err := encode(result)
	if err != nil {
		return err
	}
	return a.Print(out)
}

// mustComplete sets how a shell completes a flag. It panics if there is no such flag.
func mustComplete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}
