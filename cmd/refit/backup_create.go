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
		Long:  backups.CreateHelp,
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
		Use:     "rehearse --to VERSION",
		Short:   "Rehearse an upgrade on a copy of the cluster's data",
		Long:    backups.RehearseHelp,
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
