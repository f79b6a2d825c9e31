package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func newSnapshotCommand(a *app) *cobra.Command {
	s := &source.Source{}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save what a cluster is, to check and plan elsewhere",
		Long: `Reads a cluster and writes what was seen to standard output, as JSON: versions, nodes, workloads
with their counts, disruption budgets, webhooks, API servers and whatever else checks and plans
look at. "check --from" and "plan --from" read it without a cluster.

Nothing in the cluster is changed. Secrets, environment variables and values of flags that may be
secret are never read into it, but it names nodes, namespaces and workloads: treat it like an
inventory. (A copy of etcd is called a backup; this is none.)`,
		Example: a.example(
			"snapshot > snapshot.json",
			"snapshot --context prod | "+a.name+" plan --to v1.36.3 --from -",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			observed, err := a.reader().Read(cmd.Context(), s)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(a.Out)
			if err := cluster.Encode(out, observed.Snapshot); err != nil {
				return fmt.Errorf("write the Snapshot: %w", err)
			}
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write the Snapshot: %w", err)
			}
			return nil
		},
	}
	addSourceFlags(cmd, s)
	cmd.Flags().SortFlags = false
	return cmd
}
