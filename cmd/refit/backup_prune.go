package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/backups"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newBackupPruneCommand(a *app) *cobra.Command {
	host, _ := os.Hostname() // without a name, it is no node
	p := &backups.Pruner{Now: a.Now, Host: host, MayAsk: a.MayAsk, Changing: func() { a.changing = true }}
	p.Ask = func(ctx context.Context, plan *cliv1alpha1.BackupPruning) error {
		fmt.Fprint(a.Err, text.BackupPruning(plan, a.Page(false))+"\n")
		return a.Confirm(ctx, "Delete them for good?")
	}
	return a.newView(&view{
		use:   "prune",
		short: "Delete the backups that BackupStores do not keep",
		long: `Delete the backups that BackupStores do not keep, as agents do after each backup: those that are
neither among the last ones nor young enough for spec.keep. The last good backup, and the last one
that was restored in a drill, always stay. The command also deletes uploads that were interrupted
more than a day ago, and lists EtcdBackups whose objects are gone.

The command shows what it would delete, and why, and prompts for confirmation. The credentials of a
bucket are read from the cluster. A directory of control plane hosts can only be read there: the
command prints what to run. If it is mounted or copied to this machine, use --path. EtcdBackups
record that their objects are deleted, but not if the directory is at another path than that of the
store: then it may be a copy. At the path of the store, a node deletes only the backups that it has
taken.`,
		example: []string{
			"# Show what would be deleted in all buckets", "backup prune --dry-run",
			"# Delete it in one store without a prompt", "backup prune --store offsite --yes",
		},
		args: noArguments,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&p.Store, "store", "", "the `NAME` of the BackupStore (default all)")
			cmd.Flags().BoolVar(&p.DryRun, "dry-run", false, "show what would be deleted")
			cmd.Flags().BoolVarP(&p.Yes, "yes", "y", false, "skip the confirmation prompt")
			addPathFlag(cmd, &p.Access)
			cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
		},
		check:   func([]string) error { return p.Check() },
		partial: true,
		read: func(r *reading) (any, func() string, error) {
			result, err := p.Prune(r.Context(), r.Cluster, r.Cluster.Name)
			if result == nil {
				return nil, nil, err
			}
			return result, func() string { return text.BackupPruning(result, a.Page(false)) }, err
		},
	})
}
