package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func newSnapshotCommand(a *app) *cobra.Command {
	s := &source.Source{}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save a Snapshot of a cluster",
		Long:  source.SnapshotHelp,
		Example: a.example(
			"# Save a Snapshot", "snapshot > snapshot.json",
			"# Plan an upgrade of another cluster", "snapshot --context prod | "+a.name+" plan --to v1.36.3 --from -",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			observed, err := a.reader().Read(cmd.Context(), s)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(a.Out)
			if err := errors.Join(cluster.Encode(out, observed.Snapshot), out.Flush()); err != nil {
				return fmt.Errorf("cannot write the Snapshot: %w", err)
			}
			return nil
		},
	}
	addSourceFlags(cmd, s)
	cmd.Flags().SortFlags = false
	return cmd
}
