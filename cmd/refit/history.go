package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newHistoryCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "history",
		short: "List the upgrades of a cluster",
		long: `List the upgrades of a cluster, the newest first: the versions, the result, the duration, the number
of upgraded nodes, and the nodes that failed. Upgrades are objects of the cluster; to remove one
from the list, delete its ClusterUpgrade.`,
		example: []string{"# List the upgrades of a cluster", "history", "# Print the list as JSON", "history -o json"},
		args:    noArguments,
		read: func(r *reading) (any, func() string, error) {
			all, err := r.List(r.Context())
			history := progress.NewHistory(r.Cluster.Name, all)
			return history, func() string { return text.History(history, a.Now(), a.name) }, err
		},
	})
}
