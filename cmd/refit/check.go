package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/assessing"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newCheckCommand(a *app) *cobra.Command {
	q := &question{}
	list := false
	cmd := &cobra.Command{
		Use:   "check --to VERSION",
		Short: "Check whether a cluster can be upgraded",
		Long:  assessing.CheckHelp,
		Example: a.example(
			"# Check an upgrade to a version", "check --to v1.36.3",
			"# Check an upgrade to the newest patch release for which the cluster has a ClusterRelease", "check --to v1.36",
			"# Check another cluster and print JSON", "check --to v1.36.3 --context prod -o json",
			"# Waive a finding", "check --to v1.36.3 --waive 'BudgetNeverAllows/PodDisruptionBudget shop/cart=scaled down manually'",
			"# Check an upgrade from a manifest against a saved Snapshot", "check -f upgrade.yaml --from snapshot.json",
			"# List all checks", "check --list",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return q.printChecks(a)
			}
			report, _, err := q.ask(cmd, a, assess.ForCheck)
			if err != nil {
				return err
			}
			return q.answer(cmd, a, report, text.Check)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list all checks and exit")
	q.addFlags(cmd)
	for _, other := range []string{"to", "release", "components", "scope", "node-selector", "max-unavailable", "waive", "file", "from"} {
		cmd.MarkFlagsMutuallyExclusive("list", other)
	}
	return cmd
}

func (f *format) printChecks(a *app) error {
	if err := f.Check(); err != nil {
		return err
	}
	list := progress.NewChecks()
	return a.PrintAs(&f.Format, list, func() string { return text.Checks(&list) })
}
