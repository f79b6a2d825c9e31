package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newStatusCommand(a *app) *cobra.Command {
	var k connect.Kubeconfig
	var f format
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Tell how far an upgrade is",
		Long: `Tells how far an upgrade is: its stages, the nodes at work, what is waited for and since when, who
failed and what to do about it, and what to type next.

Without a name it is the operation that acts: the oldest that has not ended; if all have, the last.`,
		Example:           a.example("status", "status to-v1-36-3 -o json"),
		Args:              operationArgument,
		ValidArgsFunction: a.completeOperations(&k),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			c, err := a.connect(cmd.Context(), &k)
			if err != nil {
				return err
			}
			u, err := c.choose(cmd.Context(), firstOf(args), orNewest)
			if err != nil {
				return err
			}
			operation, err := c.Progress(cmd.Context(), u)
			if err != nil {
				return err
			}
			return f.print(a, operation, func() string {
				return text.Status(operation, a.Page(f.wide), a.Now(), func(command string) string { return a.line(cmd, command) })
			})
		},
	}
	cmd.Flags().BoolVar(&f.wide, "wide", false, "list every node at work and every failure instead of folding long lists")
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}
