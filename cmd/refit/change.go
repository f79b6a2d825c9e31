package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/request"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

func newWaiveCommand(a *app) *cobra.Command {
	var waiver refitv1alpha1.Waiver
	return a.newVerb(verb{
		name:     "waive",
		argument: "CHECK[/OBJECT]=REASON",
		short:    "Waive a finding of an upgrade",
		long: `Waive a finding of an upgrade in progress, with a reason that is recorded. Waivers are a part of the
plan, so the plan changes and needs approval.`,
		example: []string{
			"# Waive a finding about one object of the active upgrade", "waive 'DiskTooSmall/Node worker-1=images are on another disk'",
			"# Waive all findings of a check in an upgrade by name", "waive 'BudgetNeverAllows=these workloads may stop' to-v1-36-3",
		},
		parse: func(argument string) (err error) {
			waiver, err = request.ParseWaiver(argument)
			return err
		},
		accept: func(ctx context.Context, c *connection) error {
			if node, of := preflight.NodeOf(waiver.Object); of && c.LacksNode(ctx, node) {
				return exit.Usagef("node %s not found in %s: name an object that `%s check` prints", node, c.Name, a.name)
			}
			return nil
		},
		decide: func(o verbs.Operation) (verbs.Decision, error) { return verbs.Waive(o, waiver) },
	})
}

func newAbandonCommand(a *app) *cobra.Command {
	var node string
	return a.newVerb(verb{
		name:     "abandon",
		argument: "NODE",
		short:    "Give up a node whose host does not come back",
		long: `Give up a node of an upgrade in progress whose host does not come back. The upgrade, or its abort,
no longer waits for the node, and the other nodes continue. If the host comes back, its agent starts
nothing new. A node that Refit cordoned stays cordoned, since its host may be partly changed.

A control plane node is part of the plan: approve the changed plan afterwards. Also remove the node
from the cluster and from etcd.`,
		example: []string{
			"# Give up a node of the active upgrade", "abandon worker-7",
			"# Give up a node of an upgrade by name", "abandon worker-7 to-v1-36-3",
		},
		parse: func(argument string) error {
			if problems := validation.IsDNS1123Subdomain(argument); len(problems) > 0 {
				return fmt.Errorf("%q is not the name of a node", argument)
			}
			node = argument
			return nil
		},
		decide: func(o verbs.Operation) (verbs.Decision, error) { return verbs.Abandon(o, node) },
		question: func(o *cliv1alpha1.Operation) string {
			return fmt.Sprintf("Give up %s in %s? Its host may be partly changed.", node, o.Name)
		},
	})
}

func newSetCommand(a *app) *cobra.Command {
	return a.newGroup(&cobra.Command{
		Use:     "set",
		Short:   "Change the policy of an upgrade",
		Long:    `Change the policy of an upgrade in progress.`,
		Example: a.example("# Upgrade a tenth of the default pool at a time", "set pool default --max-unavailable 10%"),
	}, newSetPoolCommand(a))
}

func newSetPoolCommand(a *app) *cobra.Command {
	var pool, flag string
	var value intstr.IntOrString
	return a.newVerb(verb{
		name:     "pool",
		verb:     "set pool",
		argument: "NAME",
		short:    "Change the policy of a pool",
		long: `Change how many nodes of a pool may be unavailable at once in an upgrade in progress. Pools are a
part of the plan, so the plan changes and needs approval.`,
		example: []string{
			"# Upgrade a tenth of the default pool at a time", "set pool default --max-unavailable 10%",
			"# Change a pool of an upgrade by name", "set pool gpu --max-unavailable 2 to-v1-36-3",
		},
		parse: func(argument string) error {
			if pool = argument; flag == "" {
				return fmt.Errorf("--max-unavailable is required")
			}
			value = intstr.Parse(flag)
			if err := request.ValidateShare(&value); err != nil {
				return fmt.Errorf("--max-unavailable: %w", err)
			}
			return nil
		},
		decide: func(o verbs.Operation) (verbs.Decision, error) { return verbs.SetPool(o, pool, value) },
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&flag, "max-unavailable", "", "the `NUMBER` or percentage of nodes that may be unavailable at once")
		},
	})
}
