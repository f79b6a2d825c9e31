//go:build apiserver

package controller

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller"
)

// TestF1KilledFiftyTimes kills the controller at random moments, spread over the whole run: a host
// starts its next step only after enough kills.
func TestF1KilledFiftyTimes(t *testing.T) {
	const kills, allSteps = 50, 120
	b := newBed(t)
	var killed atomic.Int32
	b.hosts.pace = func(ctx context.Context, begun int) {
		for ctx.Err() == nil && killed.Load() < kills && int(killed.Load())*allSteps < begun*kills {
			time.Sleep(5 * time.Millisecond)
		}
	}
	kubeconfig := b.Kubeconfig(t, b.config)
	b.upgrade(op)
	for epoch := int64(0); killed.Load() < kills; killed.Add(1) {
		p := b.process(kubeconfig)
		led := b.until(op, "has a new leader", func(o *refitv1alpha1.ClusterUpgrade) bool { return o.Status.Epoch > epoch })
		epoch = led.Status.Epoch
		time.Sleep(rand.N(250 * time.Millisecond))
		p.kill()
		b.freeLease()
		if led.HasEnded() {
			t.Fatalf("it ended after %d kills", killed.Load())
		}
	}
	b.controllers()
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

func TestF2FrozenPastItsLease(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	first, second := b.hosts.hold("worker-1", "swap-kubelet"), b.hosts.hold("worker-4", "swap-kubelet")
	frozen := b.process(b.Kubeconfig(t, b.config))
	b.upgrade(op)
	b.comes("the kubelet of worker-1", first)
	before := b.until(op, "is there", func(*refitv1alpha1.ClusterUpgrade) bool { return true }).Status.Epoch
	frozen.signal(syscall.SIGSTOP)
	b.freeLease()
	b.controllers()
	b.until(op, "is led by another", func(o *refitv1alpha1.ClusterUpgrade) bool { return o.Status.Epoch > before })
	first.letGo()
	b.comes("the kubelet of worker-4", second)
	frozen.signal(syscall.SIGCONT)
	second.letGo()
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

// TestF2LateWritesAreFenced delays a leader's write until another leader has been elected and has
// made progress.
func TestF2LateWritesAreFenced(t *testing.T) {
	claim := func(r *http.Request) bool {
		if !writes(http.MethodPut, "/clusterupgrades/"+op+"/status")(r) {
			return false
		}
		body, err := r.GetBody()
		if err != nil {
			return false
		}
		text, err := io.ReadAll(body)
		return err == nil && strings.Contains(string(text), `"active":["worker-1"]`)
	}
	for situation, match := range map[string]func(*http.Request) bool{
		"a claim":            claim,
		"a cordon":           writes(http.MethodPatch, "/nodes/worker-1"),
		"an order to change": writes(http.MethodPut, "/nodeupgrades/worker-1"),
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t, controlPlaneDone)
			config := b.config
			w := b.through()
			late := w.holdUp(match)
			b.controllers()
			b.upgrade(op)
			b.comes("the write", late)
			b.config = config // the new leader connects directly
			before := b.until(op, "is there", func(*refitv1alpha1.ClusterUpgrade) bool { return true }).Status.Epoch
			b.freeLease()
			held := b.hosts.hold("worker-1", "swap-kubelet")
			b.controllers()
			b.until(op, "is led by another", func(o *refitv1alpha1.ClusterUpgrade) bool { return o.Status.Epoch > before })
			b.comes("the kubelet of worker-1", held)
			late.letGo()
			b.wait("the late write is answered", func() (bool, string) { return len(w.answers()) == 1, "not yet" })
			if !slices.Equal(w.answers(), []int{http.StatusConflict}) {
				t.Errorf("it is answered with %v", w.answers())
			}
			held.letGo()
			b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
			b.atRest(everyNode...)
		})
	}
}

// TestF5AFrozenWatchLeadsToNoClaim freezes the watch of nodes before a user cordons one, which
// exhausts maxUnavailable. The controller takes a newer snapshot before each disruption, and that
// one counts.
func TestF5AFrozenWatchLeadsToNoClaim(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	w := b.through()
	b.controllers()
	b.wait("a controller leads, so that it has seen all nodes", func() (bool, string) {
		lease := &coordinationv1.Lease{}
		err := b.client.Get(t.Context(), types.NamespacedName{Namespace: controller.Namespace, Name: "refit-controller"}, lease)
		return err == nil, fmt.Sprint(err)
	})
	thaw := w.freeze(t, "/nodes")
	b.cordonByHand("worker-2")
	b.upgrade(op)
	b.until(op, "sees the cordon", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return strings.HasPrefix(o.Status.Message, "NodeCordonedByHand: ") && idle(o)
	})
	if n := b.node("worker-1"); n.Spec.Unschedulable {
		t.Error("worker-1 is cordoned")
	}
	b.foreign = map[string]bool{}
	b.patchNode("worker-2", `{"spec":{"unschedulable":false}}`)
	thaw()
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}
