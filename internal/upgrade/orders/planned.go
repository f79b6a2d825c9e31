package orders

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Planned returns the orders that an operation may give to a node, one per permit. They have no
// release, sequence or time: those are known only when an order is given.
func Planned(operation *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) []*refitv1alpha1.NodeUpgradeSpec {
	role := refitv1alpha1.RoleWorker
	if n.ControlPlane {
		role = refitv1alpha1.RoleControlPlane
	}
	var planned []*refitv1alpha1.NodeUpgradeSpec
	for _, permit := range []refitv1alpha1.Permit{
		refitv1alpha1.PermitHold, refitv1alpha1.PermitPrefetch, refitv1alpha1.PermitApply, refitv1alpha1.PermitRollback,
	} {
		order := Order{Permit: permit, Role: role}
		if permit == refitv1alpha1.PermitApply && operation.Window != "" {
			order.NotAfter = time.Unix(0, 0) // every change has to start in time
		}
		spec := order.spec(operation)
		planned = append(planned, &spec)
	}
	return planned
}
