package drain

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// newPod returns a running pod; its name is NAMESPACE/OWNER-NUMBER, and NAMESPACE/NAME without an
// owner.
func newPod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	namespace, short, _ := strings.Cut(name, "/")
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: short, UID: types.UID("uid-" + short)},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	if owner, _, owned := strings.Cut(short, "-"); owned {
		p.Labels = map[string]string{"app": owner}
		ownedBy("ReplicaSet", owner)(p)
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func ownedBy(kind, owner string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{
			{Kind: "Other", Name: "other", UID: "uid-other"}, {Kind: kind, Name: owner, UID: types.UID("uid-" + owner), Controller: &yes},
		}
	}
}

func withPhase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func withPriority(n int32) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Priority = &n } }

func labeled(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels["app.kubernetes.io/name"] = name }
}

func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func TestWhichPodsMustLeave(t *testing.T) {
	for name, c := range map[string]struct {
		pod       *corev1.Pod
		want      bool
		unmanaged bool
	}{
		"of a ReplicaSet":         {pod: newPod("shop/cart-1"), want: true},
		"unmanaged":               {pod: newPod("shop/debug"), want: true, unmanaged: true},
		"of a Job, still running": {pod: newPod("shop/job-1", ownedBy("Job", "job")), want: true},
		"of a Job, done":          {pod: newPod("shop/job-1", ownedBy("Job", "job"), withPhase(corev1.PodSucceeded))},
		"failed":                  {pod: newPod("shop/cart-1", withPhase(corev1.PodFailed))},
		"of Refit's controller":   {pod: newPod("refit-system/controller-1", labeled("refit-controller"))},
		"of refit-components":     {pod: newPod("refit-components/components-1", labeled("refit-components"))},
		"labeled like it":         {pod: newPod("shop/controller-1", labeled("refit-controller")), want: true},
		"failed, unmanaged":       {pod: newPod("shop/debug", withPhase(corev1.PodFailed)), unmanaged: true},
		"pending":                 {pod: newPod("shop/cart-1", withPhase(corev1.PodPending)), want: true},
		"unknown":                 {pod: newPod("shop/cart-1", withPhase(corev1.PodUnknown)), want: true},
		"of a DaemonSet":          {pod: newPod("kube-system/proxy-1", ownedBy("DaemonSet", "proxy"))},
		"owned by a DaemonSet that does not control it": {
			pod: newPod("shop/debug", func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "x"}} }), want: true, unmanaged: true,
		},
		"a mirror pod": {pod: newPod("kube-system/etcd-cp", ownedBy("Node", "cp"), func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
		})},
		"done, and still being deleted": {
			pod: newPod("shop/cart-1", withPhase(corev1.PodSucceeded), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), want: true,
		},
		"terminating": {pod: newPod("shop/cart-1", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []*corev1.Pod{c.pod, trim(c.pod)} {
				if mustLeave(p) != c.want || unmanaged(p) != c.unmanaged {
					t.Errorf("must leave: %t, unmanaged: %t", mustLeave(p), unmanaged(p))
				}
			}
		})
	}
}

func TestEvictionOrderByPriorityAndOwner(t *testing.T) {
	v := newView(Order{}, start)
	v.replace([]*corev1.Pod{
		newPod("shop/zoo-1"), newPod("shop/cart-1"), newPod("shop/cart-2"), newPod("shop/cart-3"), newPod("shop/web-1"), newPod("shop/web-2"), newPod("shop/debug"),
		newPod("kube-system/dns-1", withPriority(2000000000)), newPod("kube-system/dns-2", withPriority(2000000000)),
		newPod("batch/night-1", withPriority(-10)), newPod("batch/night-2", withPriority(-10)),
	})
	var got []string
	for _, p := range evictionOrder(v.pods) {
		got = append(got, p.Name)
	}
	want := []string{"night-1", "night-2", "cart-1", "debug", "web-1", "zoo-1", "cart-2", "web-2", "cart-3", "dns-1", "dns-2"}
	if !slices.Equal(got, want) {
		t.Errorf("the order is %q", got)
	}
}

func TestTrimKeepsOnlyWhatIsRead(t *testing.T) {
	p := newPod("shop/cart-1", withPriority(7))
	p.Finalizers = []string{"example.com/wait"}
	p.Annotations = map[string]string{"note": "long"}
	p.Spec.Containers = []corev1.Container{{Name: "main", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter2"}}}}
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	got := trim(p)
	if got.Spec.Containers != nil || got.ManagedFields != nil || got.Annotations != nil || len(got.Status.Conditions) != 1 || len(got.OwnerReferences) != 1 {
		t.Errorf("it is %+v", got)
	}
	if !isReady(got) || got.UID != p.UID || got.Labels["app"] != "cart" || *got.Spec.Priority != 7 || got.Finalizers[0] != "example.com/wait" {
		t.Errorf("a needed field is missing: %+v", got)
	}
}
