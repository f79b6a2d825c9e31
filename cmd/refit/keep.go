package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/keeping"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newKeepCommand(a *app) *cobra.Command {
	keeper := &keeping.Keeper{Confirm: a.Confirm, Changing: func() { a.changing = true }, Err: a.Err}
	return a.newView(&view{
		use:     "keep NODE",
		short:   "Keep security settings that only a node's static pods have",
		long:    keeping.Help,
		example: []string{"# Show what would be kept, and keep it", "keep cp-1", "# Keep it without a prompt", "keep cp-1 --yes"},
		args:    accept(arguments.One("name one node, for example cp-1")),
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVarP(&keeper.Confirmed, "yes", "y", false, "skip the confirmation prompt")
		},
		partial: true,
		read: func(r *reading) (any, func() string, error) {
			now, err := connect.Clock(r.Context(), r.config, a.Now)
			if err != nil {
				return nil, nil, err
			}
			keeper.Out, keeper.Page = a.Out, a.Page(false)
			if r.Output != terminal.FormatText {
				keeper.Out = a.Err // the result is the only document
			}
			result, err := keeper.Keep(r.Context(), keeping.Cluster{Client: r.Client, Name: r.Cluster.Name, Now: now, List: r.List}, r.name)
			if result == nil {
				return nil, nil, err
			}
			return result, func() string { return text.Keep(result, a.Page(false)) }, err
		},
	})
}
