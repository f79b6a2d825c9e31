package main

import (
	"cmp"

	"github.com/spf13/cobra"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/assessing"
	"github.com/refit-dev/refit/internal/cli/backups"
	"github.com/refit-dev/refit/internal/cli/manifest"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/cli/text"
)

// backing has the flags of the commands that take a backup.
type backing struct {
	backups.Creator
	assessing.Request
	manifest.Flags
	format
}

func newBackupCreateCommand(a *app) *cobra.Command {
	b := &backing{}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Take a backup of etcd",
		Long: `Take a backup of etcd and follow it until it is stored, was read back, and was restored into a
scratch etcd on the host and compared. The command creates an EtcdBackup; the agent of a control
plane node takes the backup, which continues if you interrupt the command (Ctrl-C). At the end it
prints the digest of the backup, which proves its origin, and the next steps.

With --drill none, the backup is not restored. With --drill rehearse, the versions on the path to
--to also run on the restored data.

Exits with 0 if the backup succeeds, with 1 if it fails, with 3 if the rehearsal has findings, with
4 if --timeout expires, and with 130 if you interrupt it.`,
		Example: a.example(
			"# Take a backup", "backup create",
			"# Take a backup in a script", "backup create --store offsite --timeout 30m -o json",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd, a) },
	}
	cmd.Flags().StringVar(&b.Drill, "drill", "restore", "`HOW` the backup is tried: none, restore or rehearse")
	cmd.Flags().StringVar(&b.To, "to", "", "with --drill rehearse: the `VERSION` of Kubernetes to rehearse")
	mustComplete(cmd, "drill", cobra.FixedCompletions(backups.Drills, cobra.ShellCompDirectiveNoFileComp))
	b.addFlags(cmd)
	return cmd
}

func newRehearseCommand(a *app) *cobra.Command {
	b := &backing{Creator: backups.Creator{Drill: "rehearse"}}
	cmd := &cobra.Command{
		Use:   "rehearse --to VERSION",
		Short: "Rehearse an upgrade on a copy of the cluster's data",
		Long: `Rehearse an upgrade: take a backup of etcd, restore it on a control plane host beside the cluster,
and run the API server of each version on the path to the target on that data, with the flags of
this cluster. Each finding has an object and a remedy. The cluster is not changed.

The command creates an EtcdBackup, which continues if you interrupt the command (Ctrl-C).

Exits with 0 if the rehearsal has no findings, with 1 if it could not be done, with 3 if it has
findings, with 4 if --timeout expires, and with 130 if you interrupt it.`,
		Example: a.example("# Rehearse an upgrade", "rehearse --to v1.36.3", "# Rehearse it in a script", "rehearse --to v1.36.3 --timeout 1h -o json"),
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return b.run(cmd, a) },
	}
	cmd.Flags().StringVar(&b.To, "to", "", "the `VERSION` of Kubernetes to rehearse, for example v1.36.3")
	b.addFlags(cmd)
	return cmd
}

func (b *backing) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.Store, "store", backups.DefaultStore, "the `NAME` of the BackupStore")
	cmd.Flags().DurationVar(&b.Limit, "timeout", 0, "the maximum `DURATION` to follow the backup (default until it ends)")
	addKubeconfigFlags(cmd, &b.Kubeconfig)
	b.addLineFlags(cmd)
	cmd.Flags().SortFlags = false
	b.Timeout = source.DefaultTimeout
}

func (b *backing) run(cmd *cobra.Command, a *app) error {
	if err := cmp.Or(b.format.Check(), b.Check(b.To)); err != nil {
		return err
	}
	c, err := a.connect(cmd.Context(), &b.Kubeconfig)
	if err != nil {
		return err
	}
	var hops []refitv1alpha1.ReleaseRef
	if b.To != "" {
		if hops, err = b.Hops(cmd.Context(), a.assessor(), &b.Flags); err != nil {
			return err
		}
	}
	b.Report = a.NewBackupWriter(b.Output == terminal.FormatJSON)
	last, err := b.Create(cmd.Context(), c.Cluster, hops, backups.Commands{
		Show: a.line(cmd, "backup", "show"), Verify: a.line(cmd, "backup", "verify"), Restore: a.line(cmd, "restore"),
	})
	if last != nil && last.Ended && b.Output == terminal.FormatText {
		return cmp.Or(a.Print([]byte(text.BackupEnd(last, a.Page(false)))), err)
	}
	return err
}
