//go:build apiserver

package controller

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The simulated agents refuse as real ones do. Otherwise no test here would notice an order that a
// host does not follow.
func TestAnOrderForAnotherMachineIsRefused(t *testing.T) {
	b := newBed(t)
	order := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}, Spec: refitv1alpha1.NodeUpgradeSpec{
		Format: refitv1alpha1.MinOrderFormat, Operation: refitv1alpha1.Operation{Name: op, UID: "op-uid"}, NodeUID: b.node("worker-1").UID,
		MachineID: strings.Repeat("0", 32), Sequence: 1, Epoch: 1, Role: refitv1alpha1.RoleWorker, Permit: refitv1alpha1.PermitPrefetch,
		Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-" + to, Digest: "sha256:" + strings.Repeat("a", 64)}, Rollback: refitv1alpha1.RollbackAuto,
	}}
	must(t, b.client.Create(t.Context(), order))
	b.wait("the agent refuses", func() (bool, string) {
		stored := &refitv1alpha1.NodeUpgrade{}
		must(t, b.client.Get(t.Context(), types.NamespacedName{Name: "worker-1"}, stored))
		accepted := meta.FindStatusCondition(stored.Status.Conditions, refitv1alpha1.ConditionAccepted)
		if accepted == nil {
			return false, "no condition"
		}
		return accepted.Status == metav1.ConditionFalse && accepted.Reason == node.RefusedMachine && accepted.ObservedGeneration == stored.Generation, accepted.Reason
	})
}
