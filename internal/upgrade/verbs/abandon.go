package verbs

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Abandon gives up a node whose host does not come back. It works during an abort too, which
// otherwise waits for the host.
func Abandon(o Operation, node string) (Decision, error) {
	if slices.Contains(o.Spec.AbandonedNodes, node) {
		return Decision{Message: fmt.Sprintf("%s has abandoned %s already. %s", o.Name, node, current(o.Progress))}, nil
	}
	return Decision{
		Change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.AbandonedNodes = append(s.AbandonedNodes, node) },
		Exact:  true,
		Message: fmt.Sprintf("Abandoned %[1]s in %[2]s: it is neither upgraded nor waited for. If Refit cordoned it, it stays cordoned: "+
			"once the host is repaired, run `kubectl uncordon %[1]s`. "+
			"If it is a control plane node, remove it from the cluster (`kubectl delete node %[1]s`) and from etcd (`etcdctl member remove ID`), "+
			"and approve the changed plan: `%[3]s status %[2]s` shows the command.", node, o.Name, o.Command),
	}, nil
}
