package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/following"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/starting"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// upgrading has the flags of `refit upgrade`.
type upgrading struct {
	question
	following.Following
	starter starting.Starter
}

func newUpgradeCommand(a *app) *cobra.Command {
	u := &upgrading{}
	cmd := &cobra.Command{
		Use:   "upgrade --to VERSION",
		Short: "Upgrade a cluster",
		Long:  starting.UpgradeHelp,
		Example: a.example(
			"# Upgrade a cluster", "upgrade --to v1.36.3",
			"# Upgrade to the newest patch release for which the cluster has a ClusterRelease", "upgrade --to v1.36",
			"# Upgrade components only", "upgrade --components",
			"# Upgrade in a script", "upgrade --to v1.36.3 --yes --timeout 2h -o json",
			"# Upgrade with the policies of a manifest", "upgrade -f upgrade.yaml",
			"# Upgrade a cluster without controllers", "upgrade --to v1.36.3 --standalone",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return u.run(cmd, a) },
	}
	addRequestFlags(cmd, &u.Request, &u.Flags)
	flags := cmd.Flags()
	flags.StringVar(&u.starter.Name, "name", "", "the `NAME` of the operation (default from the target, for example to-v1-36-3)")
	flags.BoolVarP(&u.starter.Yes, "yes", "y", false, "skip the confirmation prompt")
	flags.BoolVar(&u.starter.Standalone, "standalone", false, "run the controllers in this process, for a cluster without them")
	flags.StringVar(&u.starter.Log, "log", "", "with --standalone: the `FILE` for the log of the controllers (default none)")
	addFollowingFlags(cmd, &u.Following)
	addKubeconfigFlags(cmd, &u.Kubeconfig)
	u.addLineFlags(cmd)
	u.addWideFlag(cmd, "node and every finding of the plan")
	flags.SortFlags = false
	u.Timeout = source.DefaultTimeout
	return cmd
}

func (u *upgrading) run(cmd *cobra.Command, a *app) error {
	u.starter.Notes, u.starter.Command = a.Err, a.name
	if err := cmp.Or(u.format.Check(), u.starter.Check(), u.Check()); err != nil {
		return err
	}
	if err := u.offer(cmd.Context(), a); err != nil {
		return err
	}
	requested, err := u.Upgrade(cmd.Context(), a.assessor(), &u.Flags)
	if err != nil {
		return err
	}
	c, err := a.connect(cmd.Context(), &u.Kubeconfig)
	if err != nil {
		return err
	}
	all, err := c.List(cmd.Context())
	if err != nil {
		return err
	}
	same, err := u.starter.Same(all, requested)
	if err != nil {
		return err
	}
	if same != nil {
		err = u.follow(cmd, a, c, func() (*refitv1alpha1.ClusterUpgrade, error) { return same, nil })
		return exit.WhenInterrupted(cmd.Context(), err, "interrupted; %s is still in progress. To follow it again: %s", same.Name, a.line(cmd, "upgrade"))
	}
	hash, err := u.propose(cmd, a, c, requested, all)
	if err != nil || hash == "" {
		return err
	}
	return u.follow(cmd, a, c, func() (*refitv1alpha1.ClusterUpgrade, error) {
		return u.starter.Start(cmd.Context(), c.Cluster, requested, hash)
	})
}

// offer offers to add the ClusterReleases that the upgrade lacks, if there is a terminal and the
// hosts accept the user's own key. Otherwise the preflight checks report what is missing.
func (u *upgrading) offer(ctx context.Context, a *app) error {
	if interactive := a.MayAsk() == nil; !interactive || u.starter.Yes || u.Output == terminal.FormatJSON {
		return nil
	}
	o := &release.Offer{Reading: a.readingContent, Connect: a.releases(&u.Kubeconfig)}
	o.Changing = func() { a.changing = true }
	o.Log, o.Confirm, o.Passphrase = a.Err, a.Confirm, release.Passphrase{CanAsk: a.CanAskSecret, Ask: a.AskSecret, Keyring: a.Keyring}
	return o.Complete(ctx, &u.Request, func(ctx context.Context, list release.List) ([]string, error) {
		return u.Missing(ctx, a.assessor(), &u.Flags, list)
	})
}

// propose shows the plan and prompts the user to confirm it. It returns the plan's hash, or an
// empty string if there is nothing to do.
func (u *upgrading) propose(cmd *cobra.Command, a *app, c *connection, to *refitv1alpha1.ClusterUpgrade, all []refitv1alpha1.ClusterUpgrade) (string, error) {
	return u.starter.Propose(cmd.Context(), starting.Proposal{
		Requested: to, All: all, Cluster: c.Name, Controllers: c.ExpectControllers, Terminal: a,
		Assess: func(ctx context.Context) (*cliv1alpha1.Report, error) {
			return u.Assess(ctx, a.assessor(), to, assess.ForStart)
		},
		Show: func(report *cliv1alpha1.Report) error { return u.show(cmd, a, report) },
	})
}

// show prints the plan.
func (u *upgrading) show(cmd *cobra.Command, a *app, report *cliv1alpha1.Report) error {
	if u.Output == terminal.FormatJSON {
		return a.PrintEncoded(document.Line(progress.Folded(report)))
	}
	next := nextOf(cmd, a)
	next.Upgrade = "" // it is about to happen
	return a.Print([]byte(text.Plan(report, a.Page(u.Wide), next) + "\n"))
}

// follow follows an operation, and runs the controllers in this process if standalone is set.
func (u *upgrading) follow(cmd *cobra.Command, a *app, c *connection, operation func() (*refitv1alpha1.ClusterUpgrade, error)) error {
	stop := func() {}
	if u.starter.Standalone {
		var err error
		if stop, err = a.standalone(cmd.Context(), c, u.starter.Log); err != nil {
			return err
		}
	}
	defer stop()
	found, err := operation()
	if err != nil {
		return err
	}
	follower := &operations.Follower{
		Cluster: c.Cluster, Operation: found.Name, Report: a.NewStatusWriter(u.Output == terminal.FormatJSON), Finalized: u.starter.Standalone,
	}
	return u.Follow(cmd.Context(), found.Name, follower.Follow, func(last *cliv1alpha1.Operation) string {
		if !u.starter.Standalone {
			return a.goesOn(cmd, found.Name)
		}
		stop()
		return text.LeftAlone(last) + " To continue: " + a.line(cmd, "upgrade")
	})
}
