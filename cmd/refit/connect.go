package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

func addKubeconfigFlags(cmd *cobra.Command, k *connect.Kubeconfig) {
	flags := cmd.Flags()
	flags.StringVar(&k.Path, "kubeconfig", "", "the kubeconfig `FILE` (default $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&k.Context, "context", "", "the `NAME` of the kubeconfig context (default the current context)")
	flags.StringVar(&k.As, "as", "", "the `USER` to impersonate")
	mustComplete(cmd, "context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return k.Contexts(), cobra.ShellCompDirectiveNoFileComp
	})
}

func addSourceFlags(cmd *cobra.Command, s *source.Source) {
	addKubeconfigFlags(cmd, &s.Kubeconfig)
	cmd.Flags().DurationVar(&s.Timeout, "timeout", source.DefaultTimeout, "the maximum `DURATION` of reading the cluster")
	cmd.Flags().BoolVarP(&s.Verbose, "verbose", "v", false, "report on stderr what is being read, even if it is not a terminal")
}

// completeNames completes the names of objects in a shell.
func (a *app) completeNames(k *connect.Kubeconfig, names func(context.Context, *connection) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second)
		defer cancel()
		c, err := a.connect(ctx, k)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(ctx, c), cobra.ShellCompDirectiveNoFileComp
	}
}

func operationNames(ctx context.Context, c *connection) []string {
	all, _ := c.List(ctx) // without a list there is nothing to complete
	return request.Names(all)
}

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
