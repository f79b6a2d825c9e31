package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/assessing"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/manifest"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/assess"
)

func newPlanCommand(a *app) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "plan --to VERSION",
		Short: "Show the plan of an upgrade",
		Long:  assessing.PlanHelp,
		Example: a.example(
			"# Show the plan of an upgrade", "plan --to v1.36.3",
			"# Upgrade a tenth of the workers at a time", "plan --to v1.36.3 --max-unavailable 10%",
			"# Plan an upgrade of some workers", "plan --to v1.36.3 --scope Workers --node-selector pool=batch",
			"# Plan from a manifest for a saved Snapshot, and list every node", "plan -f upgrade.yaml --from snapshot.json --wide",
			"# Write the manifest of an upgrade", "plan --to v1.36.3 -o manifest > upgrade.yaml",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, upgrade, err := q.ask(cmd, a, assess.ForPlan)
			if err != nil {
				return err
			}
			if q.Output != terminal.FormatManifest {
				return q.answer(cmd, a, report, text.Plan)
			}
			return cmp.Or(a.PrintEncoded(manifest.Write(upgrade)), exit.IfBlocked(report.Blocked))
		},
	}
	q.addFlags(cmd, terminal.FormatManifest)
	return cmd
}
