package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/text"
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
		args: accept(arguments.Operation), operations: true,
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
