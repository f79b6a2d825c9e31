package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The controller must not wait for a later order, such as that of an abort, to be executed.
func TestAgentThatCannotResumeAnswersLaterOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAgent(t, &apiStub{})
		a.state.Open = "upgrade-1"
		a.unresumable = a.cannotResume(node.HostBroken("JournalDamaged", nil, "-", "damaged"))
		order := goodOrder("sha256:aa") // sequence 8; the host accepted 7
		order.Spec.Permit = refitv1alpha1.PermitRollback
		a.orders.put(order)
		a.status.observe(order)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := a.waitBroken(ctx, a.unresumable); err == nil {
			t.Error("it ends without the failure")
		}
		if status, _, _ := a.status.compose(); status.ObservedSequence != 8 || status.Phase != refitv1alpha1.NodeFailed {
			t.Errorf("the status is %s of sequence %d, want Failed of 8", status.Phase, status.ObservedSequence)
		}
	})
}
