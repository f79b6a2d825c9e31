//go:build apiserver

package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// protection is what keeps autoscalers off a node, and what marks it as Refit's.
func protection(n *corev1.Node) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.Annotations)) {
		if strings.HasPrefix(name, "cluster-autoscaler.") || strings.HasPrefix(name, "karpenter.sh/") || strings.HasPrefix(name, "refit.dev/protected-") {
			out = append(out, fmt.Sprintf("%s=%s", name, n.Annotations[name]))
		}
	}
	return strings.Join(out, " ")
}

const bothAutoscalers = "cluster-autoscaler.kubernetes.io/scale-down-disabled=true karpenter.sh/do-not-disrupt=true refit.dev/protected-by="

// Autoscalers are kept off nodes while they are active, of which worker-1 is cordoned by hand. What
// the user has put on worker-2 is there afterwards.
func TestAutoscalersAreKeptOffActiveNodes(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	b.cordonByHand("worker-1")
	b.patchNode("worker-2", `{"metadata":{"annotations":{"karpenter.sh/do-not-disrupt":"true"}}}`)
	b.protected["worker-2"] = "karpenter.sh/do-not-disrupt=true"
	first, second := b.hosts.hold("worker-1", "swap-kubelet"), b.hosts.hold("worker-2", "swap-kubelet")
	b.controllers()
	b.upgrade(op, func(o *refitv1alpha1.ClusterUpgrade) {
		o.Spec.Waivers = append(o.Spec.Waivers, refitv1alpha1.Waiver{Check: "NodeCordonedByHand", Object: "Node worker-1", Reason: "its disk is being replaced"})
	})
	for _, at := range []struct {
		node string
		held *hold
	}{{"worker-1", first}, {"worker-2", second}} {
		b.comes("the kubelet of "+at.node, at.held)
		if got := protection(b.node(at.node)); !strings.HasPrefix(got, bothAutoscalers) {
			t.Errorf("%s is active, and autoscalers find %q", at.node, got)
		}
		at.held.letGo()
	}
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}
