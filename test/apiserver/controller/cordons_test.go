//go:build apiserver

package controller

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestF6DeletedDuringTheUpgrade(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	operation := b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	b.cordonByHand("worker-3")
	must(t, b.client.Delete(t.Context(), operation))
	b.until(op, "brings its nodes to an end", phase(refitv1alpha1.PhaseAborting))
	held.letGo()
	b.gone(op)
	b.atRest(append(controlPlane, "worker-1")...)
}

// gone waits until an operation is deleted.
func (b *bed) gone(name string) {
	b.t.Helper()
	b.wait(name+" is gone", func() (bool, string) {
		o := &refitv1alpha1.ClusterUpgrade{}
		err := b.client.Get(b.t.Context(), types.NamespacedName{Name: name}, o)
		return apierrors.IsNotFound(err), fmt.Sprintf("%s: %s", o.Status.Phase, o.Status.Message)
	})
}

func TestF6FinalizerRemoved(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	stop := b.controllers()
	b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	b.cordonByHand("worker-3")
	stop() // no controller observes the deletion
	operation := b.until(op, "is there", func(*refitv1alpha1.ClusterUpgrade) bool { return true })
	must(t, b.client.Delete(t.Context(), operation))
	must(t, b.client.Patch(t.Context(), operation, withoutFinalizers))
	b.gone(op)
	b.controllers()
	b.wait("the agent is told to begin nothing more", func() (bool, string) {
		permit := b.order("worker-1").Spec.Permit
		return permit == refitv1alpha1.PermitHold, string(permit)
	})
	if n := b.node("worker-1"); !n.Spec.Unschedulable {
		t.Error("a host that is being changed was uncordoned")
	}
	held.letGo()
	b.wait("the cordon is lifted", func() (bool, string) { n := b.node("worker-1"); return !n.Spec.Unschedulable, "cordoned" })
	b.atRest(append(controlPlane, "worker-1")...)
}

func TestF55AForeignCordonStays(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	b.cordonByHand("worker-4")
	b.controllers()
	b.upgrade(op, func(o *refitv1alpha1.ClusterUpgrade) {
		o.Spec.Waivers = append(o.Spec.Waivers, refitv1alpha1.Waiver{Check: "NodeCordonedByHand", Object: "Node worker-4", Reason: "its disk is being replaced"})
	})
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

func TestF55ACordonOfRefitThatAUserRemovesIsRestored(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	b.stuck()
	defer b.unstick()
	b.controllers()
	b.upgrade(op)
	cordoned := func() (bool, string) { return b.node("worker-1").Spec.Unschedulable, "not cordoned" }
	b.wait("worker-1 is cordoned", cordoned)
	b.patchNode("worker-1", `{"spec":{"unschedulable":false}}`)
	b.wait("worker-1 is cordoned again", cordoned)
	b.patchNode("worker-1", `{"spec":{"unschedulable":false},"metadata":{"annotations":{"refit.dev/cordoned-by":null}}}`)
	b.wait("worker-1 is cordoned again, and marked", func() (bool, string) {
		n := b.node("worker-1")
		return n.Spec.Unschedulable && n.Annotations[refitv1alpha1.AnnotationCordonedBy] != "", "not so"
	})
	b.unstick()
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

func TestAStrayCordonOfRefitIsLifted(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	b.controllers()
	b.upgrade(op)
	operation := b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.patchNode("worker-1", fmt.Sprintf(`{"spec":{"unschedulable":true},"metadata":{"annotations":{"refit.dev/cordoned-by":%q}}}`, operation.UID))
	b.wait("the cordon is lifted", func() (bool, string) { return !b.node("worker-1").Spec.Unschedulable, "cordoned" })
	b.atRest(everyNode...)
}
