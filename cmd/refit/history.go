package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newHistoryCommand(a *app) *cobra.Command {
	var k connect.Kubeconfig
	var f format
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List the upgrades of a cluster",
		Long: `List the upgrades of a cluster, the newest first: the versions, the result, the duration, the number
of upgraded nodes, and the nodes that failed. Upgrades are objects of the cluster; to remove one
from the list, delete its ClusterUpgrade.`,
		Example: a.example("# List the upgrades of a cluster", "history", "# Print the list as JSON", "history -o json"),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			c, err := a.connect(cmd.Context(), &k)
			if err != nil {
				return err
			}
			all, err := c.List(cmd.Context())
			if err != nil {
				return err
			}
			history := progress.NewHistory(c.Name, all)
			return f.print(a, history, func() string { return text.History(history, a.Now(), a.name) })
		},
	}
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}
