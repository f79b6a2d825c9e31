package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/arguments"
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
	// question is what the user confirms if the change cannot be undone; nil if it can.
	question func(o *cliv1alpha1.Operation) string
	// flags adds the flags that only this verb has.
	flags func(cmd *cobra.Command)
}

func (a *app) newVerb(v verb) *cobra.Command {
	use, without, args, first := v.name+" [NAME]", "a name", arguments.Operation, 0
	if v.parse != nil {
		use, without, args, first = v.name+" "+v.argument+" [OPERATION]", "OPERATION", arguments.WithOperation(v.argument), 1
	}
	yes := false
	return a.newView(&view{
		use: use, short: v.short, example: v.example, args: accept(args), complete: operationNames,
		long: v.long + "\n\nWithout " + without + ", the command changes the active operation: the oldest that has not ended.",
		flags: func(cmd *cobra.Command) {
			if v.question != nil {
				cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
			}
			if v.flags != nil {
				v.flags(cmd)
			}
		},
		check: func(args []string) error {
			if v.parse == nil {
				return nil
			}
			return exit.AsUsage(v.parse(args[0]))
		},
		read: func(r *reading) (any, func() string, error) {
			change, err := v.run(r.Context(), r.connection, arguments.First(r.args[first:]), func(o *cliv1alpha1.Operation) error {
				if v.question == nil || yes {
					return nil
				}
				return a.Confirm(r.Context(), v.question(o))
			})
			return change, func() string { return text.Changed(change, a.Page(false)) }, err
		},
	})
}

// run changes an operation once the user has confirmed it.
func (v *verb) run(ctx context.Context, c *connection, name string, confirm func(*cliv1alpha1.Operation) error) (*cliv1alpha1.Change, error) {
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
	if err := confirm(progress); err != nil {
		return nil, err
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
