package verbs

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Resume continues a paused operation.
func Resume(o Operation) (Decision, error) {
	switch {
	case o.Spec.Aborted:
		return Decision{}, fmt.Errorf("the operation %s is being aborted: it cannot go on; begin another one", o.Name)
	case !o.Spec.Paused:
		return Decision{Says: fmt.Sprintf("%s is not paused. %s", o.Name, current(o.Progress))}, nil
	}
	says := fmt.Sprintf("%s goes on. `%s watch` shows how far it is.", o.Name, o.Program)
	if o.Progress.Nodes.Failed > 0 {
		says = fmt.Sprintf("%s is no longer paused, but a node of it failed: mend the cause, then `%s retry`.", o.Name, o.Program)
	}
	return Decision{Change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Paused = false }, Says: says}, nil
}
