package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

// verb is a command that tells a running operation something, by one field of its spec. Each can be said twice.
type verb struct {
	name, short, long string
	// decide looks at an operation that has not ended and says what to change, and what follows from it.
	decide func(u *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) (decision, error)
	// confirm asks a person, where it cannot be taken back; nil: it can.
	confirm func(ctx context.Context, o *cliv1alpha1.Operation) error
	// flags adds those that only this verb has.
	flags func(cmd *cobra.Command)
}

// decision is what a verb does to an operation.
type decision struct {
	change func(*refitv1alpha1.ClusterUpgradeSpec) // nil: it is so already
	exact  bool                                    // the new value stands on the old one
	says   string
	plan   string // the hash that is approved
}

func (a *app) newVerb(v verb) *cobra.Command {
	var k kubeconfig
	var f format
	cmd := &cobra.Command{
		Use:               v.name + " [NAME]",
		Short:             v.short,
		Long:              v.long + "\n\nWithout a name it is the operation that acts: the oldest that has not ended.",
		Example:           a.example(v.name, v.name+" to-v1-36-3"),
		Args:              operationArgument,
		ValidArgsFunction: a.completeOperations(&k),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			o, err := a.operations(cmd.Context(), &k)
			if err != nil {
				return err
			}
			answer, err := v.run(cmd.Context(), o, firstOf(args))
			if err != nil {
				return err
			}
			if f.output != formatText {
				return f.print(a, answer)
			}
			return a.write([]byte(text.Changed(answer, a.page(false))))
		},
	}
	if v.flags != nil {
		v.flags(cmd)
	}
	k.addFlags(cmd)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

func (v *verb) run(ctx context.Context, o *operations, name string) (*cliv1alpha1.Change, error) {
	u, err := o.choose(ctx, name, unfinishedOnly)
	if err != nil {
		return nil, err
	}
	if u.HasEnded() {
		return nil, fmt.Errorf("the operation %s has ended (%s): there is nothing to %s", u.Name, u.Status.Phase, v.name)
	}
	seen, err := o.progressOf(ctx, u)
	if err != nil {
		return nil, err
	}
	d, err := v.decide(u, seen)
	if err != nil {
		return nil, err
	}
	answer := &cliv1alpha1.Change{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindChange, Cluster: o.cluster, Operation: u.Name, Verb: v.name, Message: d.says, Plan: d.plan,
	}
	if d.change == nil {
		return answer, nil
	}
	if v.confirm != nil {
		if err := v.confirm(ctx, seen); err != nil {
			return nil, err
		}
	}
	answer.Changed = true
	if err := o.change(ctx, u.Name, d.exact, d.change); err != nil {
		return nil, fmt.Errorf("the operation %s cannot be changed: %w", u.Name, err)
	}
	return answer, nil
}

// atWork names the nodes that do one of these things.
func atWork(o *cliv1alpha1.Operation, does ...string) []string {
	var out []string
	for _, n := range o.Active {
		for _, d := range does {
			if n.Does == d {
				out = append(out, n.Node)
			}
		}
	}
	return out
}
