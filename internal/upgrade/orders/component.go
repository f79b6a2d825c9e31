package orders

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// ComponentOrder is what an operation requires of one component.
type ComponentOrder struct {
	Permit  refitv1alpha1.Permit
	Release refitv1alpha1.ReleaseRef
	Action  refitv1alpha1.ComponentAction
	Version string
	// Kubernetes is the version that the chart is rendered for.
	Kubernetes string
	// Digest is that of the offer that was approved.
	Digest  string
	Attempt int64
	// NotAfter is when the change has to have started, zero if that does not matter.
	NotAfter time.Time
}

// NewComponent returns the order as it is written to the API. Its sequence is above last, which is
// that of the order it replaces.
func NewComponent(operation *refitv1alpha1.ClusterUpgrade, o ComponentOrder, last int64, at time.Time) refitv1alpha1.ComponentUpgradeSpec {
	orderTime := metav1.NewTime(at.UTC().Truncate(time.Second))
	return refitv1alpha1.ComponentUpgradeSpec{
		Operation: refitv1alpha1.Operation{Name: operation.Name, UID: operation.UID}, Sequence: last + 1, Epoch: operation.Status.Epoch,
		Attempt: o.Attempt, Release: o.Release, Version: o.Version, Action: o.Action, Kubernetes: o.Kubernetes, Digest: o.Digest, Permit: o.Permit,
		Rollback: operation.Spec.Rollback, NotAfter: notAfter(o.NotAfter), OrderTime: &orderTime,
	}
}

// UnchangedComponent reports whether a ComponentUpgrade is as it was observed, in everything that
// decisions depend on. No two orders have the same sequence.
func UnchangedComponent(now *refitv1alpha1.ComponentUpgrade, observed *cluster.ComponentUpgrade) bool {
	return observed != nil && now.Spec.Sequence == observed.Spec.Sequence && now.Spec.Operation == observed.Spec.Operation &&
		now.Status.ObservedSequence == observed.Status.ObservedSequence && now.Status.Phase == observed.Status.Phase
}
