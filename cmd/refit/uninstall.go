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
		Short: "Remove Refit from a cluster and from its hosts",
		Long: `Removes Refit with everything that it brought: its agents and their files from every host that can
be reached, then its objects, with all operations, reports and ClusterReleases. Cordons that Refit
made are lifted. What was upgraded stays as it is. It acts with your own rights.

Without --yes it only tells what it would do. While an operation is unfinished it refuses; a host
that is in the midst of a work is left alone, and so is all the rest, until that has ended. What has
no label of Refit's is left and named. A removal that was cut off goes on when it is said again.

Exits with 1 if hosts could not be reached: they keep their agent.`,
		Example: a.example("uninstall", "uninstall --yes"),
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return u.run(cmd, a) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&u.Confirmed, "yes", false, "do it; without this flag only what would be done is told")
	flags.DurationVar(&u.timeout, "timeout", 10*time.Minute, "how long it may take")
	addRepositoryFlag(cmd, &u.Choice)
	addKubeconfigFlags(cmd, &u.Kubeconfig)
	u.addFlags(cmd)
	flags.SortFlags = false
	return cmd
}

func (u *uninstallFlags) run(cmd *cobra.Command, a *app) error {
	if err := u.check(); err != nil {
		return err
	}
	if u.timeout <= 0 {
		return exit.Usagef("--timeout: %s is no time to remove Refit in", u.timeout)
	}
	u.Version, u.Manifests = versionOf().Version, config.Files
	u.Log, u.Changing = a.Err, func() { a.changing = true }
	if err := u.Read(); err != nil {
		return err
	}
	config, name, err := u.Load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), u.timeout)
	defer cancel()
	cluster, err := a.installable(ctx, config)
	if err != nil {
		return err
	}
	result, err := u.Uninstall(ctx, cluster, name)
	if result == nil {
		return err
	}
	again := a.line(cmd, cmd.Name())
	return cmp.Or(u.print(a, result, func() string { return text.Uninstall(result, a.Page(u.wide), again) }), err)
}
