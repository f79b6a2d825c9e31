package verbs

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Pause stops an operation from starting anything further.
func Pause(o Operation) (Decision, error) {
	switch {
	case o.Spec.Aborted:
		return Decision{}, fmt.Errorf("operation %s is being aborted: it cannot be paused", o.Name)
	case o.Spec.Paused:
		return Decision{Message: fmt.Sprintf("%s is paused already. Resume it with `%s resume`.", o.Name, o.Command)}, nil
	}
	return Decision{
		Change:  func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Paused = true },
		Message: fmt.Sprintf("Pausing %s. %s Resume it with `%s resume`.", o.Name, afterPause(o.Progress), o.Command),
	}, nil
}

// afterPause describes what happens to the active nodes.
func afterPause(o *cliv1alpha1.Operation) string {
	message := ""
	if names := nodesThat(o, cliv1alpha1.ActivityUpgrade, cliv1alpha1.ActivityRollBack, cliv1alpha1.ActivityVerify); len(names) > 0 {
		message += fmt.Sprintf("%s: the host completes its upgrade. ", phrase.Fold(names, phrase.FewNames))
	}
	if names := nodesThat(o, cliv1alpha1.ActivityCordon, cliv1alpha1.ActivityDrain); len(names) > 0 {
		message += fmt.Sprintf("%s: not changed yet, so it is uncordoned and released. ", phrase.Fold(names, phrase.FewNames))
	}
	return message + openStep(o) + "Nothing further starts."
}

// openStep describes the component that refit-components is changing, and its step.
func openStep(o *cliv1alpha1.Operation) string {
	for i := range o.Waiting {
		w := &o.Waiting[i]
		if w.Component == "" || w.Reason != refitv1alpha1.ReasonProgressing && w.Reason != refitv1alpha1.ReasonWaiting {
			continue
		}
		doing, _, _ := strings.Cut(w.Message, "; waiting: ")
		return fmt.Sprintf("Component %s: the open step ends first, without waiting until objects are ready (%s). ", w.Component, doing)
	}
	return ""
}
