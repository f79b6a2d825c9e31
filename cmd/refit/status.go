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
		Short: "Show the progress of an upgrade",
		Long: `Show the progress of an upgrade: its stages, the active nodes, what it waits for and since when, the
nodes that failed with their remedies, and the next commands.

Without a name, the command shows the active operation, or the last one if all have ended.`,
		Example: a.example("# Show the progress of the active upgrade", "status", "# Print the progress of an upgrade as JSON",
			"status to-v1-36-3 -o json"),
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
	cmd.Flags().BoolVar(&f.wide, "wide", false, "list every active node and every failure")
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}
