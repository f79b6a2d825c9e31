package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
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
			"# Waive a check in the active upgrade", "waive 'SwapOn=swap is supported here'",
			"# Waive a check for one object of an upgrade", "waive 'SwapOn/Node worker-1=swap is supported here' to-v1-36-3",
		},
		parse: func(argument string) (err error) {
			waiver, err = request.ParseWaiver(argument)
			return err
		},
		decide: func(o verbs.Operation) (verbs.Decision, error) { return verbs.Waive(o, waiver) },
	})
}

func newSetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "set",
		Short:   "Change the policy of an upgrade",
		Long:    `Change the policy of an upgrade in progress.`,
		Example: a.example("# Upgrade a tenth of the default pool at a time", "set pool default --max-unavailable 10%"),
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSetPoolCommand(a))
	return cmd
}

func newSetPoolCommand(a *app) *cobra.Command {
	var pool, flag string
	var value intstr.IntOrString
	return a.newVerb(verb{
		name:     "pool",
		verb:     "set pool",
		argument: "NAME",
		short:    "Change the policy of a pool",
		long: `Change how many nodes of a pool may be unavailable at once in an upgrade in progress. Pools are a part
of the plan, so the plan changes and needs approval.`,
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

// argumentAndOperation accepts the argument of a verb, and the name of an operation or none.
func argumentAndOperation(argument string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < 1 || len(args) > 2 {
			return exit.Usagef("expected %s and at most the name of one operation", argument)
		}
		return nil
	}
}
