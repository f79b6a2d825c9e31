package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/following"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/progress"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// upgrading has the flags of `refit upgrade`.
type upgrading struct {
	question
	following.Following
	yes, standalone bool
	name, log       string
}

func newUpgradeCommand(a *app) *cobra.Command {
	u := &upgrading{}
	cmd := &cobra.Command{
		Use:   "upgrade --to VERSION",
		Short: "Upgrade a cluster",
		Long: `Upgrade a cluster. The command reads the cluster, shows the plan, prompts for confirmation, starts
an operation with that plan approved, and follows it until it ends: in a live view on a terminal,
else with a line for each change. If the same upgrade is in progress, the command follows that one.

The controllers in the cluster execute the upgrade; it continues if you interrupt the command
(Ctrl-C). With --standalone, the command runs the controllers itself: if you interrupt it, nothing
further starts, a host that is being changed completes its upgrade, and the same command continues
later.

Without a terminal, --yes is required. With -o json, the first line is the plan, followed by a line
for each change. A user without permission to approve plans starts an upgrade that waits for another
user's approval.

Exits with 0 if the upgrade succeeds or there is nothing to upgrade, with 1 if it is aborted or
cannot start, with 3 if a preflight finding blocks it (nothing is started), with 4 if --timeout
expires, and with 130 if you interrupt it. The command keeps following a stalled upgrade, which
continues once the cause is fixed.`,
		Example: a.example(
			"# Upgrade a cluster", "upgrade --to v1.36.3",
			"# Upgrade to the newest patch release for which the cluster has a ClusterRelease", "upgrade --to v1.36",
			"# Upgrade in a script", "upgrade --to v1.36.3 --yes --timeout 2h -o json",
			"# Upgrade with the policies of a manifest", "upgrade -f upgrade.yaml",
			"# Upgrade a cluster without controllers", "upgrade --to v1.36.3 --standalone",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return u.run(cmd, a) },
	}
	addRequestFlags(cmd, &u.Request, &u.Flags)
	flags := cmd.Flags()
	flags.StringVar(&u.name, "name", "", "the `NAME` of the operation (default from the target, for example to-v1-36-3)")
	flags.BoolVarP(&u.yes, "yes", "y", false, "skip the confirmation prompt")
	flags.BoolVar(&u.standalone, "standalone", false, "run the controllers in this process, for a cluster without them")
	flags.StringVar(&u.log, "log", "", "with --standalone: the `FILE` for the log of the controllers (default none)")
	addFollowingFlags(cmd, &u.Following)
	addKubeconfigFlags(cmd, &u.Kubeconfig)
	u.addLineFlags(cmd)
	flags.BoolVar(&u.wide, "wide", false, "list every node and every finding of the plan")
	flags.SortFlags = false
	u.Timeout = source.DefaultTimeout
	return cmd
}

func (u *upgrading) run(cmd *cobra.Command, a *app) error {
	if err := u.check(); err != nil {
		return err
	}
	requested, err := u.Upgrade(cmd.Context(), a.assessor(), &u.Flags)
	if err != nil {
		return err
	}
	if err := u.checkMore(); err != nil {
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
	if same := request.InProgress(all, requested.Spec); same != nil {
		if differs := request.Differs(requested.Spec, same.Spec); differs != "" {
			return exit.Usagef("%s has the same target and is in progress with other %s, and this command does not change it: "+
				"omit them to follow it, or change it with `%s waive` or `%s set pool`", same.Name, differs, a.name, a.name)
		}
		fmt.Fprintf(a.Err, "%s has the same target and is in progress since %s: following it.\n",
			same.Name, same.CreationTimestamp.UTC().Format("2006-01-02 15:04 UTC"))
		err := u.follow(cmd, a, c, func() (*refitv1alpha1.ClusterUpgrade, error) { return same, nil })
		if err != nil && cmd.Context().Err() != nil && !exit.IsLeft(err) { // before it could do anything
			err = exit.LeftError{Err: fmt.Errorf("interrupted; %s is still in progress. To follow it again: %s", same.Name, a.line(cmd, "upgrade"))}
		}
		return err
	}
	hash, err := u.propose(cmd, a, c, requested, all)
	if err != nil || hash == "" {
		return err
	}
	return u.follow(cmd, a, c, func() (*refitv1alpha1.ClusterUpgrade, error) { return u.start(cmd.Context(), a, c, requested, hash) })
}

// start creates the operation and approves the plan that was shown.
func (u *upgrading) start(
	ctx context.Context, a *app, c *connection, requested *refitv1alpha1.ClusterUpgrade, hash string,
) (*refitv1alpha1.ClusterUpgrade, error) {
	started, unapproved, err := c.Start(ctx, requested.Spec, hash, u.name, requested.Name)
	if taken, ok := errors.AsType[request.NameTakenError](err); ok {
		return nil, exit.Usagef("%w: choose another --name", taken)
	}
	if unapproved {
		fmt.Fprintf(a.Err, "You do not have permission to approve plans: %s waits for `%s approve %s --plan %s` by another user.\n",
			started.Name, a.name, started.Name, hash)
	}
	return started, err
}

func (u *upgrading) checkMore() error {
	if u.log != "" && !u.standalone {
		return exit.Usagef("--log requires --standalone: the controllers in the cluster have their own logs")
	}
	if err := request.ValidateName(u.name); u.name != "" && err != nil {
		return exit.Usagef("--name: %w", err)
	}
	return u.Check()
}

// propose shows the plan and prompts the user to confirm it. It returns the plan's hash, or an
// empty string if there is nothing to do.
func (u *upgrading) propose(
	cmd *cobra.Command, a *app, c *connection, requested *refitv1alpha1.ClusterUpgrade, all []refitv1alpha1.ClusterUpgrade,
) (string, error) {
	if !u.yes {
		if err := a.MayAsk(); err != nil {
			return "", err // before the user waits for a plan
		}
	}
	if !u.standalone {
		if err := a.expectControllers(cmd.Context(), c); err != nil {
			return "", err
		}
	}
	report, err := u.Assess(cmd.Context(), a.assessor(), requested, assess.ForStart)
	if err != nil {
		return "", err
	}
	if err := u.show(cmd, a, report); err != nil || report.Plan.Done() {
		return "", err
	}
	if report.Blocked {
		return "", exit.ErrBlocked
	}
	if approved := requested.Spec.ApprovedPlan; approved != "" && approved != report.Plan.Hash {
		return "", exit.Usagef("the manifest approves plan %s, but this is plan %s: review it, then omit approvedPlan", approved, report.Plan.Hash)
	}
	if older := request.Unfinished(all); len(older) > 0 {
		fmt.Fprintf(a.Err, "This upgrade waits for older operations: %s\n", text.Clean(strings.Join(older, ", ")))
	}
	if u.yes {
		return report.Plan.Hash, nil
	}
	return report.Plan.Hash, a.Confirm(cmd.Context(), fmt.Sprintf("Upgrade %s to %s with this plan?", c.Name, report.Plan.To))
}

// show prints the plan.
func (u *upgrading) show(cmd *cobra.Command, a *app, report *cliv1alpha1.Report) error {
	if u.output == formatJSON {
		line, err := document.Line(progress.Folded(report))
		if err != nil {
			return err
		}
		return a.Print(line)
	}
	next := nextOf(cmd, a)
	next.Upgrade = "" // it is about to happen
	return a.Print([]byte(text.Plan(report, a.Page(u.wide), next) + "\n"))
}

// expectControllers returns an error if no controllers would execute the upgrade.
func (a *app) expectControllers(ctx context.Context, c *connection) error {
	found, err := c.Controllers(ctx)
	if err != nil {
		return err
	}
	if found.Unknown() {
		fmt.Fprintf(a.Err, "Cannot determine whether there are controllers in %s: %s\n", text.Clean(c.Name), text.Clean(found.Unreadable))
		return nil
	}
	return c.Missing(found)
}

// follow follows an operation, and runs the controllers in this process if standalone is set.
func (u *upgrading) follow(cmd *cobra.Command, a *app, c *connection, operation func() (*refitv1alpha1.ClusterUpgrade, error)) error {
	stop := func() {}
	if u.standalone {
		var err error
		if stop, err = a.standalone(cmd.Context(), c, u.log); err != nil {
			return err
		}
	}
	defer stop()
	found, err := operation()
	if err != nil {
		return err
	}
	follower := &operations.Follower{
		Cluster: c.Cluster, Operation: found.Name, Report: a.NewStatusWriter(u.output == formatJSON), Finalized: u.standalone,
	}
	return u.Follow(cmd.Context(), found.Name, follower.Follow, func(last *cliv1alpha1.Operation) string {
		if !u.standalone {
			return a.goesOn(cmd, found.Name)
		}
		stop()
		return text.LeftAlone(last) + " To continue: " + a.line(cmd, "upgrade")
	})
}
