package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/following"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/engine/operations"
)

func addFollowingFlags(cmd *cobra.Command, f *following.Following) {
	cmd.Flags().DurationVar(&f.Limit, "timeout", 0, "the maximum `DURATION` to follow the upgrade (default until it ends)")
}

func newWatchCommand(a *app) *cobra.Command {
	var k connect.Kubeconfig
	var form format
	var f following.Following
	cmd := &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Follow an upgrade until it ends",
		Long:  following.WatchHelp,
		Example: a.example(
			"# Follow the active upgrade", "watch",
			"# Print a line of JSON for each change", "watch to-v1-36-3 -o json",
			"# Stop following after half an hour", "watch --timeout 30m",
		),
		Args:              accept(arguments.Operation),
		ValidArgsFunction: a.completeNames(&k, operationNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(form.Check(), f.Check()); err != nil {
				return err
			}
			var c *connection
			var u *refitv1alpha1.ClusterUpgrade
			err := f.Reach(cmd.Context(), func(err error) { a.Complain(a.name, err) }, func(ctx context.Context) (err error) {
				if c, err = a.connect(ctx, &k); err == nil {
					u, err = c.choose(ctx, arguments.First(args), orNewest)
				}
				return err
			})
			if err != nil {
				return err
			}
			follower := &operations.Follower{Cluster: c.Cluster, Operation: u.Name, Report: a.NewStatusWriter(form.Output == terminal.FormatJSON)}
			return f.Follow(cmd.Context(), u.Name, follower.Follow, func(*cliv1alpha1.Operation) string { return a.goesOn(cmd, u.Name) })
		},
	}
	addFollowingFlags(cmd, &f)
	addKubeconfigFlags(cmd, &k)
	form.addLineFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

// goesOn is the command that follows an operation again that the controllers in the cluster
// execute.
func (a *app) goesOn(cmd *cobra.Command, name string) string {
	return fmt.Sprintf("%s continues in the cluster. To follow it again: %s %s", name, a.line(cmd, "watch"), name)
}
