package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newExplainCommand(a *app) *cobra.Command {
	var k connect.Kubeconfig
	var f format
	cmd := &cobra.Command{
		Use:   "explain NODE",
		Short: "Explain the state of a node in an upgrade",
		Long: `Explain the state of a node in an upgrade: what blocks its drain, the current step of its agent and
how long it has been running, what the node waits for, or why it failed, with the end of the log and
the remedy.`,
		Example: a.example("# Explain the state of a node", "explain worker-3", "# Print the explanation as JSON", "explain worker-3 -o json"),
		Args:    nodeArgument("worker-3"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			c, err := a.connect(cmd.Context(), &k)
			if err != nil {
				return err
			}
			known, err := c.Node(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			explanation := progress.NewExplanation(c.Name, a.name, known)
			return f.print(a, explanation, func() string { return text.Explain(explanation, a.Page(false), a.Now()) })
		},
	}
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}
