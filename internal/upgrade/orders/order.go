package orders

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Order is what an operation requires of one node.
type Order struct {
	Permit  refitv1alpha1.Permit
	Release refitv1alpha1.ReleaseRef
	Role    refitv1alpha1.Role
	Attempt int64
	// KeepAddons leaves CoreDNS and kube-proxy as they are.
	KeepAddons bool
	// NotAfter is when the change has to have started, zero if that does not matter.
	NotAfter time.Time
}

// New returns the order as it is written to the API. Its sequence is above last, which is that of
// the order it replaces, and above every sequence that the agent has accepted.
func New(operation *refitv1alpha1.ClusterUpgrade, n *cluster.Node, o Order, last int64, at time.Time) refitv1alpha1.NodeUpgradeSpec {
	spec := o.spec(&operation.Spec)
	spec.Operation = refitv1alpha1.Operation{Name: operation.Name, UID: operation.UID}
	spec.NodeUID, spec.MachineID = types.UID(n.UID), n.Report.MachineID
	spec.Sequence, spec.Epoch = max(last, n.Report.AcceptedSequence)+1, operation.Status.Epoch
	orderTime := metav1.NewTime(at.UTC().Truncate(time.Second))
	spec.OrderTime = &orderTime
	spec.Format = FormatOf(&spec)
	return spec
}

// notAfter is the time as an order has it. A part of a second is dropped, so that it is never
// later.
func notAfter(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	out := metav1.NewTime(at.UTC().Truncate(time.Second))
	return &out
}

// Held returns the order that stops another: the agent finishes the step in progress and starts no
// other.
func Held(order *refitv1alpha1.NodeUpgradeSpec) refitv1alpha1.NodeUpgradeSpec {
	held := *order.DeepCopy()
	held.Permit, held.Backup, held.NotAfter = refitv1alpha1.PermitHold, refitv1alpha1.BackupRef{}, nil
	held.Sequence++
	held.Format = FormatOf(&held)
	return held
}

// spec returns the fields that depend on the order and on the operation's spec. A field that needs
// a format of its own belongs here, where Planned sees it.
func (o Order) spec(operation *refitv1alpha1.ClusterUpgradeSpec) refitv1alpha1.NodeUpgradeSpec {
	return refitv1alpha1.NodeUpgradeSpec{
		Permit: o.Permit, Release: o.Release, Role: o.Role, Attempt: o.Attempt, KeepAddons: o.KeepAddons,
		Rollback: operation.Rollback, NotAfter: notAfter(o.NotAfter),
	}
}
