package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

// verb is a command that changes one field of an operation's spec.
type verb struct {
	name, short, long string
	verb              string // in the result, if it is not the name
	example           []string
	// argument precedes the name of the operation, and parse parses it; empty and nil if there is
	// none.
	argument string
	parse    func(argument string) error
	// accept rejects an argument that does not fit the cluster; nil if every one does.
	accept func(ctx context.Context, c *connection) error
	// decide returns the change to an operation in progress.
	decide func(verbs.Operation) (verbs.Decision, error)
	// confirm prompts the user if the change cannot be undone; nil if it can.
	confirm func(ctx context.Context, o *cliv1alpha1.Operation) error
	// flags adds the flags that only this verb has.
	flags func(cmd *cobra.Command)
}

func (a *app) newVerb(v verb) *cobra.Command {
	var k connect.Kubeconfig
	var f format
	use, without, args, first := v.name+" [NAME]", "a name", cobra.PositionalArgs(operationArgument), 0
	if v.parse != nil {
		use, without, args, first = v.name+" "+v.argument+" [OPERATION]", "OPERATION", argumentAndOperation(v.argument), 1
	}
	cmd := &cobra.Command{
		Use:               use,
		Short:             v.short,
		Long:              v.long + "\n\nWithout " + without + ", the command changes the active operation: the oldest that has not ended.",
		Example:           a.example(v.example...),
		Args:              args,
		ValidArgsFunction: a.completeOperations(&k),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if v.parse != nil {
				if err := v.parse(args[0]); err != nil {
					return exit.UsageError{Err: err}
				}
			}
			c, err := a.connect(cmd.Context(), &k)
			if err != nil {
				return err
			}
			change, err := v.run(cmd.Context(), c, firstOf(args[first:]))
			if err != nil {
				return err
			}
			return f.print(a, change, func() string { return text.Changed(change, a.Page(false)) })
		},
	}
	if v.flags != nil {
		v.flags(cmd)
	}
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

func (v *verb) run(ctx context.Context, c *connection, name string) (*cliv1alpha1.Change, error) {
	if v.accept != nil {
		if err := v.accept(ctx, c); err != nil {
			return nil, err
		}
	}
	u, err := c.choose(ctx, name, unfinishedOnly)
	if err != nil {
		return nil, err
	}
	if err := verbs.Unfinished(u, v.name); err != nil {
		return nil, err
	}
	progress, err := c.Progress(ctx, u)
	if err != nil {
		return nil, err
	}
	decision, err := v.decide(verbs.Operation{ClusterUpgrade: u, Progress: progress, Command: c.Command})
	if err != nil {
		return nil, err
	}
	change := verbs.NewChange(c.Name, u.Name, cmp.Or(v.verb, v.name), decision)
	if !change.Changed {
		return change, nil
	}
	if v.confirm != nil {
		if err := v.confirm(ctx, progress); err != nil {
			return nil, err
		}
	}
	return change, c.Change(ctx, u.Name, decision.Exact, decision.Change)
}

// The operation that a command selects without a name.
const (
	unfinishedOnly = false
	orNewest       = true // the newest if all have ended
)

// choose returns the operation that a command selects.
func (c *connection) choose(ctx context.Context, name string, newest bool) (*refitv1alpha1.ClusterUpgrade, error) {
	all, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	return verbs.Selection{Name: name, OrNewest: newest, Cluster: c.Name, Command: c.Command}.Choose(all)
}
