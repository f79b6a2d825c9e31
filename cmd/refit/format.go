package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/document"
)

// The forms of an answer.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatYAML     = "yaml"
	formatManifest = "manifest"
)

// format is in which form an answer is printed.
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

// addLineFlags is for what goes on for a while: JSON is a document for each change, in a line.
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
		return usage("--output: for every node and finding use --wide")
	}
	return usage("--output: %q is none of %s", f.output, strings.Join(f.allowed, ", "))
}

// print writes a document as JSON or YAML.
func (f *format) print(a *app, value any) error {
	encode := document.JSON
	if f.output == formatYAML {
		encode = document.YAML
	}
	out, err := encode(value)
	if err != nil {
		return err
	}
	return a.write(out)
}

// mustComplete says how a shell completes a flag. It fails only for a flag that is not there, which is a mistake of ours.
func mustComplete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}
