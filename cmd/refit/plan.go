package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/manifest"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/assess"
)

func newPlanCommand(a *app) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "plan --to VERSION",
		Short: "Tell what an upgrade would do, in which order, why and for how long",
		Long: `Plans an upgrade and changes nothing: the versions on the way, the stages, the order of the nodes,
what is drained and what is not, how long it is expected to take, and the reason for each
decision. What stands in the way is told as well; the plan is shown even so.

The plan can be made from a saved Snapshot (--from), without a cluster. A policy for pools of
workers, canaries and drains comes from a ClusterUpgrade manifest (-f); -o manifest prints the
ClusterUpgrade that asks for this very plan.

Exits with 0, and with 3 if a preflight finding blocks the plan from being carried out.`,
		Example: a.example(
			"plan --to v1.36.3",
			"plan --to v1.36.3 --max-unavailable 10%",
			"plan --to v1.36.3 --scope Workers --node-selector pool=batch",
			"plan -f upgrade.yaml --from snapshot.json --wide",
			"plan --to v1.36.3 -o manifest > upgrade.yaml",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, upgrade, err := q.ask(cmd, a, assess.ForPlan)
			if err != nil {
				return err
			}
			if q.output != formatManifest {
				return q.answer(cmd, a, report, text.Plan)
			}
			out, err := manifest.Write(upgrade)
			if err != nil {
				return err
			}
			if err := a.Print(out); err != nil {
				return err
			}
			if report.Blocked {
				return exit.ErrBlocked
			}
			return nil
		},
	}
	q.addFlags(cmd, formatManifest)
	return cmd
}
