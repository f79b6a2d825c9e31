package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newStatusCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "status [NAME]",
		short: "Show the progress of an upgrade",
		long: `Show the progress of an upgrade: its stages, the active nodes, what it waits for and since when, the
nodes that failed with their remedies, and the next commands.

Without a name, the command shows the active operation, or the last one if all have ended.`,
		example: []string{
			"# Show the progress of the active upgrade", "status",
			"# Print the progress of an upgrade as JSON", "status to-v1-36-3 -o json",
		},
		args: accept(arguments.Operation), complete: operationNames,
		wide: "active node and every failure",
		read: func(r *reading) (any, func() string, error) {
			u, err := r.choose(r.Context(), r.name, orNewest)
			if err != nil {
				return nil, nil, err
			}
			operation, err := r.Progress(r.Context(), u)
			return operation, func() string {
				return text.Status(operation, a.Page(r.Wide), a.Now(), func(command string) string { return a.line(r.Command, command) })
			}, err
		},
	})
}

func newExplainCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "explain NODE",
		short: "Explain the state of a node in an upgrade",
		long: `Explain the state of a node in an upgrade: what blocks its drain, the current step of its agent and
how long it has been running, what the node waits for, or why it failed, with the end of the log and
the remedy.`,
		example: []string{"# Explain the state of a node", "explain worker-3", "# Print the explanation as JSON", "explain worker-3 -o json"},
		args:    accept(arguments.One("name one node, for example worker-3")),
		read: func(r *reading) (any, func() string, error) {
			known, err := r.Node(r.Context(), r.name)
			if err != nil {
				return nil, nil, err
			}
			explanation := progress.NewExplanation(r.Cluster.Name, a.name, known)
			return explanation, func() string { return text.Explain(explanation, a.Page(false), a.Now()) }, nil
		},
	})
}

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
