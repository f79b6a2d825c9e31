package main

import (
	"fmt"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newRetryCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:  "retry",
		short: "Let failed and skipped nodes try again",
		long: `Lets an upgrade that stopped at a failure try again, after its cause was mended: failed nodes go on
at the step that failed, and nodes that could not be emptied are tried once more. What else stops
an upgrade, such as a preflight finding, is looked at again all the time and needs no retry.`,
		decide: func(u *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) (decision, error) {
			switch {
			case o.Nodes.Failed+o.Nodes.Skipped == 0:
				return decision{says: fmt.Sprintf("No node of %s failed or was skipped: there is nothing to retry. %s", u.Name, now(o))}, nil
			case u.Status.ObservedGeneration < u.Generation:
				return decision{says: fmt.Sprintf("%s was changed a moment ago, and the controllers have not looked at it yet: they try again.", u.Name)}, nil
			}
			return decision{
				change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Retry++ }, exact: true,
				says: fmt.Sprintf("%s tries again%s. `%s watch` shows how far it is.%s", u.Name, failedAt(o), a.name, stillPaused(u, a)),
			}, nil
		},
	})
}

// failedAt names who tries again.
func failedAt(o *cliv1alpha1.Operation) string {
	names := make([]string, 0, len(o.Failures))
	for i := range o.Failures {
		f := &o.Failures[i]
		name := f.Node
		if f.Step != "" {
			name += " at " + f.Step
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + text.Fold(names)
}

func stillPaused(u *refitv1alpha1.ClusterUpgrade, a *app) string {
	if !u.Spec.Paused {
		return ""
	}
	return fmt.Sprintf(" It is paused, though: `%s resume` lets it go on.", a.name)
}
