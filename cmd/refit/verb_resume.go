package main

import (
	"fmt"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func newResumeCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:  "resume",
		short: "Let an upgrade that was paused go on",
		long:  `Lets an upgrade that was paused go on where it was.`,
		decide: func(u *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) (decision, error) {
			switch {
			case u.Spec.Aborted:
				return decision{}, fmt.Errorf("the operation %s is being aborted: it cannot go on; begin another one", u.Name)
			case !u.Spec.Paused:
				return decision{says: fmt.Sprintf("%s is not paused. %s", u.Name, now(o))}, nil
			}
			says := fmt.Sprintf("%s goes on. `%s watch` shows how far it is.", u.Name, a.name)
			if o.Nodes.Failed > 0 {
				says = fmt.Sprintf("%s is no longer paused, but a node of it failed: mend the cause, then `%s retry`.", u.Name, a.name)
			}
			return decision{change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Paused = false }, says: says}, nil
		},
	})
}

// now is what an operation is doing, as a sentence.
func now(o *cliv1alpha1.Operation) string {
	if o.Message == "" {
		return "The controllers have not looked at it yet."
	}
	return fmt.Sprintf("It is %s: %s.", o.Phase, o.Message)
}
