package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/assess"
)

func newCheckCommand(a *app) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "check --to VERSION",
		Short: "Tell what stands in the way of an upgrade",
		Long: `Looks at a cluster and tells what stands in the way of an upgrade: each finding with the object
that it is about, what is wrong, and what to do about it. Nothing in the cluster is changed, and
only rights to read are needed; what may not be read is said.

A finding blocks, warns or informs. One that blocks can be mended, or set aside by name and with a
reason that is kept; there is no way to set all of them aside. Some answers need Refit's agent on
the nodes; without it they are listed as not known yet, and do not block here.

` + "`" + a.name + ` checks` + "`" + ` lists everything that is looked for.

Exits with 0 if nothing blocks, whatever warns, and with 3 if something does.`,
		Example: a.example(
			"check --to v1.36.3",
			"check --to v1.36.3 --context prod -o json",
			"check --to v1.36.3 --waive 'BudgetNeverAllows/PodDisruptionBudget shop/cart=deleted by hand on the day'",
			"check -f upgrade.yaml --from snapshot.json",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, _, err := q.ask(cmd, a, assess.ForCheck)
			if err != nil {
				return err
			}
			return q.answer(cmd, a, report, text.Check)
		},
	}
	q.addFlags(cmd)
	return cmd
}
