//go:build apiserver

package controller

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// stuck creates a pod on worker-1 that never terminates.
func (b *bed) stuck() {
	b.t.Helper()
	var pods corev1.PodList
	must(b.t, b.client.List(b.t.Context(), &pods, client.InNamespace("shop")))
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Spec.NodeName == "worker-1" {
			p.Finalizers = []string{"example.com/disk"}
			must(b.t, b.client.Update(b.t.Context(), p))
			return
		}
	}
	b.t.Fatal("worker-1 has no pod of the app")
}

// unstick removes the finalizer of the pod.
func (b *bed) unstick() {
	b.t.Helper()
	var pods corev1.PodList
	must(b.t, b.client.List(b.t.Context(), &pods, client.InNamespace("shop")))
	for i := range pods.Items {
		if p := &pods.Items[i]; len(p.Finalizers) > 0 {
			must(b.t, client.IgnoreNotFound(b.client.Patch(b.t.Context(), p, withoutFinalizers)))
		}
	}
}

func TestAbortAtEveryStage(t *testing.T) {
	type situation struct {
		name    string
		changes []clustertest.Change
		until   func(b *bed) (goOn func())
		done    []string
	}
	at := func(node, step string) func(*bed) func() {
		return func(b *bed) func() {
			held := b.hosts.hold(node, step)
			b.controllers()
			b.upgrade(op)
			b.comes(step+" on "+node, held)
			return held.letGo
		}
	}
	workersOnly := []clustertest.Change{controlPlaneDone}
	for _, tt := range []situation{
		{"while it waits for approval", nil, func(b *bed) func() {
			b.controllers()
			b.upgrade(op, func(o *refitv1alpha1.ClusterUpgrade) { o.Spec.Approval = refitv1alpha1.ApprovalRequired })
			b.until(op, "waits for approval", phase(refitv1alpha1.PhaseAwaitingApproval))
			return func() {}
		}, nil},
		{"while nodes fetch", nil, at("worker-4", "fetch"), nil},
		{"while a control plane node is changed", nil, at("cp-2", "swap-apiserver"), []string{"cp-2"}},
		{"while a worker is emptied", workersOnly, func(b *bed) func() {
			b.stuck()
			b.controllers()
			b.upgrade(op)
			b.wait("worker-1 is being emptied", func() (bool, string) {
				d := b.order("worker-1").Status.Drain
				return d != nil && d.Remaining > 0, fmt.Sprintf("%+v", d)
			})
			return func() {}
		}, controlPlane},
		{"while a worker is changed", workersOnly, at("worker-1", "swap-kubelet"), append(controlPlane, "worker-1")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, tt.changes...)
			defer b.unstick()
			goOn := tt.until(b)
			b.cordonByHand("worker-3")
			b.says(`{"aborted":true}`)
			b.until(op, "knows that it is aborted", phase(refitv1alpha1.PhaseAborting, refitv1alpha1.PhaseAborted))
			goOn()
			b.until(op, "has ended", phase(refitv1alpha1.PhaseAborted))
			b.atRest(tt.done...)
			for _, name := range workers {
				if u := b.order(name); u.Spec.Permit == refitv1alpha1.PermitPrefetch {
					t.Errorf("the agent on %s may still %s", name, u.Spec.Permit)
				}
			}
		})
	}
}
