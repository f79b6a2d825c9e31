package orders

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// BackupFormat is the format of orders with the permit Backup.
const BackupFormat = 2

// NotAfterFormat is the format of orders that have to be started in time.
const NotAfterFormat = 3

// BackupTimeout is how long an agent may take for a backup with its drill and rehearsal: a database
// of 8 GB is sent to a slow store, read back and decrypted, restored on a slow disk, and listed by
// several versions. After it, the order does not hold back other orders any more.
const BackupTimeout = 6 * time.Hour

// TakeTimeout is how long an order to back up etcd that no agent has taken holds back other orders.
const TakeTimeout = 10 * time.Minute

// Backup returns the order to back up etcd. All that it shares with current, the order that it
// replaces, stays: an upgrade in progress still recognizes its operation, and the plan continues
// after the backup. current is empty for a node that has had no order.
//
// The epoch is the one of the order before, or the highest that the host has accepted. A higher one
// would make the leader of an open operation a former one, and a backup changes nothing that a
// former leader could damage.
func Backup(current *refitv1alpha1.NodeUpgradeSpec, n *cluster.Node, ref refitv1alpha1.BackupRef, at time.Time) refitv1alpha1.NodeUpgradeSpec {
	spec := *current.DeepCopy()
	if spec.NodeUID != types.UID(n.UID) { // an order to a node that joined again is not its own
		spec = refitv1alpha1.NodeUpgradeSpec{Sequence: current.Sequence, Epoch: current.Epoch}
	}
	if spec.Role == "" {
		spec.Role = refitv1alpha1.RoleControlPlane
	}
	spec.Permit, spec.Backup, spec.NotAfter = refitv1alpha1.PermitBackup, ref, nil
	spec.NodeUID, spec.MachineID = types.UID(n.UID), n.Report.MachineID
	spec.Sequence = max(current.Sequence, n.Report.AcceptedSequence) + 1
	spec.Epoch = max(current.Epoch, n.Report.AcceptedEpoch, 1)
	orderTime := metav1.NewTime(at.UTC().Truncate(time.Second))
	spec.OrderTime = &orderTime
	spec.Format = FormatOf(&spec)
	return spec
}

// BackingUp reports whether an agent has the order to back up etcd and has not ended the backup. An
// order that the agent refuses, does not take or does not finish in time, counts as ended.
func BackingUp(order *cluster.Upgrade, now time.Time) bool {
	if order == nil || order.Spec.Permit != refitv1alpha1.PermitBackup || order.Spec.OrderTime == nil {
		return false
	}
	limit := TakeTimeout
	if order.Status.Backup.IsOf(order.Spec.Backup) {
		if order.Status.Backup.Ended() {
			return false
		}
		limit = BackupTimeout
	}
	return Refusal(order) == nil && now.Sub(order.Spec.OrderTime.Time) < limit
}

// Refusal is the agent's refusal of the latest order, nil if there is none.
func Refusal(order *cluster.Upgrade) *metav1.Condition {
	accepted := meta.FindStatusCondition(order.Status.Conditions, refitv1alpha1.ConditionAccepted)
	if accepted == nil || accepted.Status != metav1.ConditionFalse || accepted.ObservedGeneration != order.Generation {
		return nil
	}
	return accepted
}
