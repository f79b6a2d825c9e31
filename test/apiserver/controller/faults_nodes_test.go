//go:build apiserver

package controller

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/test/apiserver"
)

func TestF4TheAPIIsUnreachableWhileAHostIsUpgraded(t *testing.T) {
	b := newBedOn(t, apiserver.Start(t, apiserver.Options{}), controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	b.Stop(t)
	held.letGo()
	b.wait("the host goes on alone", func() (bool, string) { return b.hosts.began("worker-1", "verify-node") == 1, "not so" })
	b.Restart(t)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

func TestF8RecreatedWithTheSameName(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	first := b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	must(t, b.client.Delete(t.Context(), first))
	must(t, b.client.Patch(t.Context(), first, withoutFinalizers))
	b.gone(op)
	second := b.upgrade(op)
	b.until(op, "has looked", func(o *refitv1alpha1.ClusterUpgrade) bool { return o.Status.Phase != "" })
	held.letGo()
	b.until(op, "succeeds", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return o.Status.Phase == refitv1alpha1.PhaseSucceeded && o.UID == second.UID
	})
	b.atRest(everyNode...)
	if n := b.hosts.began("worker-1", "swap-kubelet"); n != 1 {
		t.Errorf("the kubelet of worker-1 was swapped %d times", n)
	}
}

// joins creates a node like another one.
func (b *bed) joins(as *corev1.Node, name string) {
	b.t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: as.Labels}, Spec: corev1.NodeSpec{Taints: as.Spec.Taints}, Status: as.Status}
	n.Status.NodeInfo.KubeletVersion, n.Status.NodeInfo.ContainerRuntimeVersion = from, "containerd://2.4.2"
	must(b.t, b.client.Create(b.t.Context(), n))
}

func TestF9ANodeJoinsDuringTheUpgrade(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	b.joins(b.node("worker-2"), "worker-9")
	held.letGo()
	done := b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(append(everyNode, "worker-9")...)
	if done.Status.Nodes.Total != 8 {
		t.Errorf("it counts %+v", done.Status.Nodes)
	}
}

func TestF10TheActiveNodeIsRemoved(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	must(t, b.client.Delete(t.Context(), b.node("worker-1")))
	done := b.until(op, "succeeds without it", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(append(controlPlane, "worker-2", "worker-3", "worker-4")...)
	if done.Status.Nodes.Total != 6 || done.Status.Nodes.Done != 6 {
		t.Errorf("it counts %+v", done.Status.Nodes)
	}
	held.letGo()
}

// setReady sets the Ready condition of a node.
func (b *bed) setReady(name string, status corev1.ConditionStatus) {
	b.t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	now := time.Now().UTC().Format(time.RFC3339)
	body := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q}]}}`, status, now)
	must(b.t, b.client.Status().Patch(b.t.Context(), n, client.RawPatch(types.StrategicMergePatchType, body)))
}

func TestF10AnotherNodeBecomesNotReady(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	b.setReady("worker-3", corev1.ConditionUnknown)
	held.letGo()
	b.until(op, "begins nothing new", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return idle(o) && strings.Contains(o.Status.Message, "worker-3")
	})
	b.setReady("worker-3", corev1.ConditionTrue)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

func TestF11ReinstalledUnderTheSameName(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	before := b.node("worker-1")
	must(t, b.client.Delete(t.Context(), before))
	b.joins(before, "worker-1")
	held.letGo()
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
	if u := b.order("worker-1"); u.Spec.NodeUID == before.UID {
		t.Error("the order is for the node that is gone")
	}
	if n := b.hosts.began("worker-1", "swap-kubelet"); n != 2 {
		t.Errorf("the kubelet was swapped %d times", n)
	}
}

func TestF30ANodeThatIsDoneAndNotReady(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "verify-node")
	b.controllers()
	b.upgrade(op)
	b.comes("the end of worker-1", held)
	b.setReady("worker-1", corev1.ConditionFalse)
	held.letGo()
	b.until(op, "waits for worker-1", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return fmt.Sprint(o.Status.Active) == "[worker-1]" && o.Status.Message == "worker-1 (at v1.36.3) is not ready"
	})
	if n := b.node("worker-1"); !n.Spec.Unschedulable {
		t.Error("a node that is not ready was uncordoned")
	}
	b.setReady("worker-1", corev1.ConditionTrue)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

func TestF37AnEtcdMemberBecomesUnhealthyBetweenTwoNodes(t *testing.T) {
	b := newBed(t)
	held := b.hosts.hold("cp-2", "verify-node")
	b.controllers()
	b.upgrade(op)
	b.comes("the end of cp-2", held)
	b.hosts.setIll("cp-3", true)
	// Times have whole seconds: a report in the second in which cp-2 completes counts as later.
	ill := time.Now().Unix()
	b.wait("a second is over", func() (bool, string) { return time.Now().Unix() > ill, "" })
	held.letGo()
	b.until(op, "waits for the member", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return o.Status.Phase == refitv1alpha1.PhaseStalled && o.Status.Message == "The etcd member on cp-3 is unhealthy"
	})
	if n := b.hosts.began("cp-3", "check-host") + b.hosts.began("cp-1", "check-host"); n != 0 {
		t.Error("another control plane node was begun")
	}
	b.hosts.setIll("cp-3", false)
	report := &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: "cp-3"}} // its agent reports that it is healthy again
	patch := fmt.Appendf(nil, `{"spec":{"request":%d}}`, time.Now().Unix()+1)
	must(t, b.client.Patch(t.Context(), report, client.RawPatch(types.MergePatchType, patch)))
	b.until(op, "goes on by itself", phase(refitv1alpha1.PhaseRunning))
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

// budget changes how many pods of the app may be unavailable.
func (b *bed) budget(most int) {
	b.t.Helper()
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}
	must(b.t, b.client.Patch(b.t.Context(), budget, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"maxUnavailable":%d}}`, most))))
}

func TestF49ABudgetThatNeverAllows(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	b.budget(0)
	b.controllers()
	b.upgrade(op, func(o *refitv1alpha1.ClusterUpgrade) {
		o.Spec.NodeSelector = refitv1alpha1.Labels{"kubernetes.io/hostname": "worker-1"}
	})
	b.until(op, "is blocked", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return o.Status.Phase == refitv1alpha1.PhaseStalled && strings.HasPrefix(o.Status.Message, "BudgetNeverAllows: ")
	})
	b.says(`{"pools":[{"name":"default","drain":{"timeout":"2s","onBlocked":"Skip"}}]}`)
	b.until(op, "leaves the node for later", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return o.Status.Phase == refitv1alpha1.PhaseStalled && o.Status.Nodes.Skipped == 1 &&
			o.Status.Message == "1 node is skipped because the drain timed out: worker-1"
	})
	b.atRest(controlPlane...)
	b.budget(1)
	b.says(`{"retry":1}`)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(append(controlPlane, "worker-1")...)
}

// TestABudgetIsIgnoredOnlyWhileThePolicyAllowsIt delays the controller between its decision to
// delete a pod and the write that starts it.
func TestABudgetIsIgnoredOnlyWhileThePolicyAllowsIt(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	w := b.through()
	b.budget(0)
	b.controllers()
	b.upgrade(op, func(o *refitv1alpha1.ClusterUpgrade) {
		o.Spec.NodeSelector = refitv1alpha1.Labels{"kubernetes.io/hostname": "worker-1"}
	})
	b.says(`{"pools":[{"name":"default","drain":{"timeout":"5s","onBlocked":"Delete"}}]}`)
	b.wait("the drain is held up", func() (bool, string) {
		d := b.order("worker-1").Status.Drain
		return d != nil && d.Phase == refitv1alpha1.DrainBlocked, fmt.Sprint(d)
	})
	late := w.holdUp(writes(http.MethodGet, "/nodeupgrades/worker-1"))
	b.comes("the look at the node's work", late)
	b.says(`{"pools":[{"name":"default","drain":{"timeout":"5s","onBlocked":"Wait"}}]}`)
	late.letGo()
	b.until(op, "gives the node back", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return idle(o) && strings.HasPrefix(o.Status.Message, "BudgetNeverAllows: ")
	})
	if d := b.order("worker-1").Status.Drain; d.Delete {
		t.Errorf("pods are deleted: %+v", d)
	}
	b.budget(1)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
}

func TestF52AnUnmanagedPodIsDeletedOnlyIfItIsWaived(t *testing.T) {
	bare := clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Pod", Name: "debug"}, map[string]int32{"worker-1": 1})
	b := newBed(t, controlPlaneDone, bare)
	b.controllers()
	b.upgrade(op)
	b.until(op, "is blocked", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return o.Status.Phase == refitv1alpha1.PhaseStalled && strings.HasPrefix(o.Status.Message, "UnmanagedPod: ")
	})
	b.says(`{"waivers":[{"check":"BackupProven","reason":"the test is about something else"},{"check":"UnmanagedPod","object":"Pod shop/debug","reason":"nobody needs it"}]}`)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}
