package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

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
