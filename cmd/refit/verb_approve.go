package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newApproveCommand(a *app) *cobra.Command {
	var hash string
	return a.newVerb(verb{
		name:  "approve",
		short: "Approve the plan of an upgrade that waits for it",
		long: `Approves the plan of an upgrade, by its hash, and tells it in short; the command plan shows it
whole. With --plan only that very plan is approved: who read a plan and passes its hash on can be
sure that it is still the same. It needs the right to approve (the verb approve on clusterupgrades).`,
		decide: func(u *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) (decision, error) {
			if hash != "" && !planHash.MatchString(hash) {
				return decision{}, usage("--plan: %q is no hash of a plan, which is sha256: and 64 digits", hash)
			}
			return approve(u, hash, a.name)
		},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&hash, "plan", "", "approve only the plan with this `HASH`")
		},
	})
}

// approve decides whether a plan can be approved.
func approve(u *refitv1alpha1.ClusterUpgrade, hash, program string) (decision, error) {
	plan := u.Status.Plan
	switch {
	case u.Spec.Aborted:
		return decision{}, fmt.Errorf("the operation %s is being aborted: there is nothing to approve", u.Name)
	case plan == nil:
		return decision{}, fmt.Errorf("the operation %s has no plan yet: `%s status %s` tells what it waits for", u.Name, program, u.Name)
	}
	pending := cmp.Or(plan.ProposedHash, plan.Hash)
	switch {
	case plan.ProposedHash != "" && hash == "":
		return decision{}, fmt.Errorf("the plan of %s has changed since it was approved: it is %s now. Read it (`%s plan`), "+
			"then approve it by its hash: `%s approve %s --plan %s`", u.Name, pending, program, program, u.Name, pending)
	case hash != "" && hash != pending:
		return decision{}, fmt.Errorf("the plan of %s is %s, not the one that you name: read it again, `%s plan` shows it", u.Name, pending, program)
	case u.Spec.ApprovedPlan == pending:
		return decision{says: fmt.Sprintf("The plan of %s is approved already.", u.Name), plan: pending}, nil
	}
	return decision{
		change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.ApprovedPlan = pending },
		says:   fmt.Sprintf("Approved: %s. %s goes on; `%s watch` shows how far it is.", text.PlanInShort(plan), u.Name, program),
		plan:   pending,
	}, nil
}
