package main

import (
	"fmt"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newPauseCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:  "pause",
		short: "Let an upgrade begin nothing more until it is resumed",
		long: `Lets an upgrade begin nothing more. A host that is being changed comes to the end of that by
itself; a node that was only being emptied is uncordoned and given back. Then everything waits until
it is resumed.`,
		decide: func(u *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) (decision, error) {
			switch {
			case u.Spec.Aborted:
				return decision{}, fmt.Errorf("the operation %s is being aborted: there is nothing to pause", u.Name)
			case u.Spec.Paused:
				return decision{says: fmt.Sprintf("%s is paused already. `%s resume` goes on.", u.Name, a.name)}, nil
			}
			return decision{
				change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Paused = true },
				says:   fmt.Sprintf("%s pauses. %s `%s resume` goes on.", u.Name, afterPause(o), a.name),
			}, nil
		},
	})
}

// afterPause is what becomes of the nodes at work.
func afterPause(o *cliv1alpha1.Operation) string {
	says := ""
	if names := atWork(o, cliv1alpha1.DoesChange, cliv1alpha1.DoesPutBack, cliv1alpha1.DoesSettle); len(names) > 0 {
		says += fmt.Sprintf("%s: the work on the host comes to its end. ", text.Fold(names))
	}
	if names := atWork(o, cliv1alpha1.DoesBegin, cliv1alpha1.DoesDrain); len(names) > 0 {
		says += fmt.Sprintf("%s: not changed yet, so uncordoned and given back. ", text.Fold(names))
	}
	return says + "Nothing more is begun."
}
