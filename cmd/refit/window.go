package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/schedules"
	"github.com/refit-dev/refit/internal/cli/text"
)

// openings is how many openings of a window are shown.
const openings = 10

func newWindowCommand(a *app) *cobra.Command {
	next := a.newView(&view{
		use: "next NAME", short: "Show the next openings of a window", long: schedules.WindowNextHelp,
		args: accept(arguments.One("name one window, as `kubectl get maintenancewindows` prints it")),
		complete: func(ctx context.Context, c *connection) []string {
			names, _ := c.WindowNames(ctx)
			return names
		},
		example: []string{"# Show when nodes may be disrupted", "window next weekend", "# Print it as JSON", "window next weekend -o json"},
		read: func(r *reading) (any, func() string, error) {
			w, err := r.Window(r.Context(), r.name, openings)
			return w, func() string { return text.Window(w) }, err
		},
	})
	return a.newGroup(&cobra.Command{
		Use: "window", Short: "Show maintenance windows", Long: schedules.WindowHelp,
		Example: a.example("# Show when nodes may be disrupted", "window next weekend"),
	}, next)
}
