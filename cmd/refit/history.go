package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newHistoryCommand(a *app) *cobra.Command {
	var k kubeconfig
	var f format
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List all upgrades of a cluster, and how they ended",
		Long: `Lists the upgrades of a cluster, the newest first: from which version to which, how they ended, how
long they took, how many nodes they changed and which ones failed. They are kept as objects of the
cluster; to forget one, delete its ClusterUpgrade.`,
		Example: a.example("history", "history -o json"),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			o, err := a.operations(cmd.Context(), &k)
			if err != nil {
				return err
			}
			all, err := o.all(cmd.Context())
			if err != nil {
				return err
			}
			answer := progress.NewHistory(o.cluster, all)
			if f.output != formatText {
				return f.print(a, answer)
			}
			return a.write([]byte(text.History(answer, a.now(), a.name)))
		},
	}
	k.addFlags(cmd)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}
