package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newAbortCommand(a *app) *cobra.Command {
	var yes bool
	return a.newVerb(verb{
		name:  "abort",
		short: "End an upgrade for good, with its nodes in a safe state",
		long: `Ends an upgrade for good: the nodes at work are brought to a safe state and uncordoned, and
nothing more is begun. Nodes that are at the new version stay there; another upgrade to the same
version goes on with the rest. It cannot be taken back. To stop for a while, there is pause.`,
		decide: func(u *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) (decision, error) {
			if u.Spec.Aborted {
				return decision{says: fmt.Sprintf("%s is being aborted already. %s", u.Name, now(o))}, nil
			}
			return decision{
				change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Aborted = true },
				says: fmt.Sprintf("%s aborts. %sWhat was upgraded stays (%d of %d nodes). `%s watch %s` shows how it ends.",
					u.Name, afterAbort(o), o.Nodes.Done, o.Nodes.Total, a.name, u.Name),
			}, nil
		},
		confirm: func(ctx context.Context, o *cliv1alpha1.Operation) error {
			if yes {
				return nil
			}
			return a.confirm(ctx, fmt.Sprintf("Abort %s, with %d of %d nodes done? It cannot be taken back.", o.Name, o.Nodes.Done, o.Nodes.Total))
		},
		flags: func(cmd *cobra.Command) { cmd.Flags().BoolVar(&yes, "yes", false, "do not ask") },
	})
}

func afterAbort(o *cliv1alpha1.Operation) string {
	if len(o.Active) == 0 || len(atWork(o, cliv1alpha1.DoesFetch)) > 0 {
		return ""
	}
	names := make([]string, 0, len(o.Active))
	for i := range o.Active {
		names = append(names, o.Active[i].Node)
	}
	return fmt.Sprintf("%s: brought to a safe state and uncordoned. ", text.Fold(names))
}
