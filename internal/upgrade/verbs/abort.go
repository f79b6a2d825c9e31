package verbs

import (
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Abort ends an operation permanently, once its active nodes are in a safe state.
func Abort(o Operation) (Decision, error) {
	if o.Spec.Aborted {
		return Decision{Message: fmt.Sprintf("%s is being aborted already. %s", o.Name, current(o.Progress))}, nil
	}
	return Decision{
		Change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Aborted = true },
		Message: fmt.Sprintf("Aborting %s. %s%s%s `%s watch %s` shows the progress.",
			o.Name, afterAbort(o.Progress), openStep(o.Progress), kept(o.Progress), o.Command, o.Name),
	}, nil
}

// kept describes what is not rolled back.
func kept(o *cliv1alpha1.Operation) string {
	nodes := fmt.Sprintf("Upgraded nodes keep the new version (%d of %d nodes).", o.Nodes.Done, o.Nodes.Total)
	components := fmt.Sprintf("Upgraded components keep the new version (%d of %s).", o.Components.Done, phrase.Count(o.Components.Total, "component"))
	switch {
	case o.ComponentsOnly:
		return components
	case o.Components.Total > 0:
		return nodes + " " + components
	}
	return nodes
}

// afterAbort describes what happens to the active nodes.
func afterAbort(o *cliv1alpha1.Operation) string {
	if len(o.Active) == 0 || len(nodesThat(o, cliv1alpha1.ActivityPrefetch)) > 0 {
		return ""
	}
	names := make([]string, 0, len(o.Active))
	for i := range o.Active {
		names = append(names, o.Active[i].Node)
	}
	return fmt.Sprintf("%s: uncordoned in a safe state. ", phrase.Fold(names, phrase.FewNames))
}
