package verbs

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Resume continues a paused operation.
func Resume(o Operation) (Decision, error) {
	switch {
	case o.Spec.Aborted:
		return Decision{}, fmt.Errorf("operation %s is being aborted: it cannot be resumed; start another one", o.Name)
	case !o.Spec.Paused:
		return Decision{Message: fmt.Sprintf("%s is not paused. %s", o.Name, current(o.Progress))}, nil
	}
	message := fmt.Sprintf("Resuming %s. `%s watch` shows the progress.", o.Name, o.Command)
	switch {
	case slices.ContainsFunc(o.Progress.Failures, ofComponent):
		message = fmt.Sprintf("%s is no longer paused, but a component failed: fix the cause, then run `%s retry`.", o.Name, o.Command)
	case o.Progress.Nodes.Failed > 0:
		message = fmt.Sprintf("%s is no longer paused, but one of its nodes failed: fix the cause, then run `%s retry`.", o.Name, o.Command)
	}
	return Decision{Change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Paused = false }, Message: message}, nil
}
