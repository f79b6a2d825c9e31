package verbs

import (
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Pause stops an operation from starting anything further.
func Pause(o Operation) (Decision, error) {
	switch {
	case o.Spec.Aborted:
		return Decision{}, fmt.Errorf("the operation %s is being aborted: there is nothing to pause", o.Name)
	case o.Spec.Paused:
		return Decision{Says: fmt.Sprintf("%s is paused already. `%s resume` goes on.", o.Name, o.Program)}, nil
	}
	return Decision{
		Change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Paused = true },
		Says:   fmt.Sprintf("%s pauses. %s `%s resume` goes on.", o.Name, afterPause(o.Progress), o.Program),
	}, nil
}

// afterPause is what happens to the active nodes.
func afterPause(o *cliv1alpha1.Operation) string {
	says := ""
	if names := nodesThat(o, cliv1alpha1.DoesChange, cliv1alpha1.DoesPutBack, cliv1alpha1.DoesSettle); len(names) > 0 {
		says += fmt.Sprintf("%s: the work on the host comes to its end. ", phrase.Fold(names, phrase.FewNames))
	}
	if names := nodesThat(o, cliv1alpha1.DoesBegin, cliv1alpha1.DoesDrain); len(names) > 0 {
		says += fmt.Sprintf("%s: not changed yet, so uncordoned and given back. ", phrase.Fold(names, phrase.FewNames))
	}
	return says + "Nothing more is begun."
}
