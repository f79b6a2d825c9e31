package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/installation"
	"github.com/refit-dev/refit/internal/cli/text"
)

// uninstallFlags are the flags of `refit uninstall`.
type uninstallFlags struct {
	connect.Kubeconfig
	format
	installation.Uninstaller
	timeout time.Duration
}

func newUninstallCommand(a *app) *cobra.Command {
	u := &uninstallFlags{}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove Refit from a cluster and its nodes",
		Long: `Remove Refit from a cluster: its agents and their files from every reachable host, then its objects,
including all upgrades, reports and ClusterReleases. Nodes that Refit cordoned are uncordoned.
Upgraded software stays as it is. The command acts with your own permissions.

Without --yes, the command only shows what it would do. It refuses to run during an upgrade or while
a host is being changed. Objects without Refit's label are kept and listed. Run the command again to
continue an interrupted removal.

Exits with 1 if a host is unreachable: its agent remains.`,
		Example: a.example("# Show what would be removed", "uninstall", "# Remove Refit", "uninstall --yes"),
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return u.run(cmd, a) },
	}
	flags := cmd.Flags()
	flags.BoolVarP(&u.Confirmed, "yes", "y", false, "remove Refit; without this flag the command only shows what it would do")
	flags.DurationVar(&u.timeout, "timeout", 10*time.Minute, "the maximum `DURATION` of the command")
	addRepositoryFlag(cmd, &u.Choice)
	addKubeconfigFlags(cmd, &u.Kubeconfig)
	u.addFlags(cmd)
	flags.SortFlags = false
	return cmd
}

func (u *uninstallFlags) run(cmd *cobra.Command, a *app) error {
	if err := u.Check(); err != nil {
		return err
	}
	if u.timeout <= 0 {
		return exit.Usagef("--timeout: %s is not a positive duration", u.timeout)
	}
	u.Version, u.Manifests = versionOf().Version, config.Files
	u.Log, u.Changing = a.Err, func() { a.changing = true }
	if err := u.Read(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), u.timeout)
	defer cancel()
	cluster, name, err := a.installable(ctx, &u.Kubeconfig)
	if err != nil {
		return err
	}
	result, err := u.Uninstall(ctx, cluster, name)
	if result == nil {
		return err
	}
	again := a.line(cmd, cmd.Name())
	return cmp.Or(a.PrintAs(&u.Format, result, func() string { return text.Uninstall(result, a.Page(u.Wide), again) }), err)
}
