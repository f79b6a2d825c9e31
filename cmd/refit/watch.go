package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/operations"
)

// following has the flags of a command that follows an operation.
type following struct{ timeout time.Duration }

func (f *following) addFlags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "how long to follow it at most (default: until it ends)")
}

func (f *following) check() error {
	if f.timeout < 0 {
		return exit.Usagef("--timeout: %s is no time to follow something for", f.timeout)
	}
	return nil
}

func newWatchCommand(a *app) *cobra.Command {
	var k connect.Kubeconfig
	var form format
	f := &following{}
	cmd := &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Follow an upgrade until it ends",
		Long: `Follows an upgrade until it ends: on a terminal in a view that is drawn anew, elsewhere in a line
for each change. It outlives an API that goes away while a control plane node changes. To leave it
(Ctrl-C) changes nothing: the upgrade goes on.

Without a name it is the operation that acts: the oldest that has not ended; if all have, the last.

Exits with 0 if the upgrade succeeded, with 1 if it was aborted, with 4 if --timeout is over first.
A stalled upgrade is told of and followed further: somebody may mend it.`,
		Example:           a.example("watch", "watch to-v1-36-3 -o json", "watch --timeout 30m"),
		Args:              operationArgument,
		ValidArgsFunction: a.completeOperations(&k),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(form.check(), f.check()); err != nil {
				return err
			}
			c, err := a.connect(cmd.Context(), &k)
			if err != nil {
				return err
			}
			u, err := c.choose(cmd.Context(), firstOf(args), orNewest)
			if err != nil {
				return err
			}
			follower := &operations.Follower{Cluster: c.Cluster, Operation: u.Name, Report: a.NewStatusWriter(form.output == formatJSON)}
			return f.follow(cmd.Context(), follower, func(*cliv1alpha1.Operation) string { return a.goesOn(cmd, u.Name) })
		},
	}
	f.addFlags(cmd)
	addKubeconfigFlags(cmd, &k)
	form.addLineFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

// goesOn tells a user who leaves how to follow an operation again that the cluster's controllers
// execute.
func (a *app) goesOn(cmd *cobra.Command, name string) string {
	return fmt.Sprintf("%s goes on without you. To watch it again: %s %s", name, a.line(cmd, "watch"), name)
}

// follow follows an operation to its end. Its error selects the exit code; that of a user who
// leaves early has what happens to the operation, and how to return to it.
func (f *following) follow(ctx context.Context, follower *operations.Follower, left func(last *cliv1alpha1.Operation) string) error {
	limited := ctx
	if f.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	last, err := follower.Follow(limited)
	switch {
	case ctx.Err() != nil:
		return exit.LeftError{Err: errors.New(left(last))}
	case limited.Err() != nil:
		return exit.TimeoutError{Err: fmt.Errorf("%s has not ended after %s. %s", follower.Operation, f.timeout, left(last))}
	case err != nil:
		return err
	case last.Phase == string(refitv1alpha1.PhaseAborted):
		return fmt.Errorf("%s was aborted, with %d of %d nodes at %s", follower.Operation, last.Nodes.Done, last.Nodes.Total, last.To)
	}
	return nil
}
