package kubeadm

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// offVirtualNodes is what the documentation of Liqo recommends.
var offVirtualNodes = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
	NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: "liqo.io/type", Operator: corev1.NodeSelectorOpDoesNotExist},
	}}},
}}}

func setAffinity(t *testing.T, client *fake.Clientset, affinity *corev1.Affinity) {
	t.Helper()
	all := client.AppsV1().DaemonSets(metav1.NamespaceSystem)
	proxy, err := all.Get(t.Context(), kubeProxy, metav1.GetOptions{})
	must(t, err)
	proxy.Spec.Template.Spec.Affinity = affinity
	_, err = all.Update(t.Context(), proxy, metav1.UpdateOptions{})
	must(t, err)
}

func affinity(t *testing.T, client *fake.Clientset) *corev1.Affinity {
	t.Helper()
	proxy, err := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(t.Context(), kubeProxy, metav1.GetOptions{})
	must(t, err)
	return proxy.Spec.Template.Spec.Affinity
}

func TestAffinityOfKubeProxyIsKept(t *testing.T) {
	client, dir := cluster(), filepath.Join(t.TempDir(), "objects")
	setAffinity(t, client, offVirtualNodes)
	phase := func() error { changeAddons(t, client, "new"); return nil } // as kubeadm, which sets none
	must(t, TrackObjects(t.Context(), client, dir, PhaseAddon, phase))
	if got := affinity(t, client); !reflect.DeepEqual(got, offVirtualNodes) {
		t.Errorf("the affinity is %+v", got)
	}
	if got := images(t, client); got != "old new new" {
		t.Errorf("the objects are at %s", got)
	}
	if kept := restoreAll(t, client, dir); len(kept) > 0 {
		t.Errorf("objects were taken for changed by others: %v", kept)
	}
	if got := images(t, client); got != "old old old" || affinity(t, client) == nil {
		t.Errorf("the objects are at %s", got)
	}
}

func TestAffinityOfKubeProxyIsKeptAfterAKill(t *testing.T) {
	client, dir := cluster(), filepath.Join(t.TempDir(), "objects")
	setAffinity(t, client, offVirtualNodes)
	killed := errors.New("killed")
	phase := func() error { changeAddons(t, client, "new"); return killed }
	if err := TrackObjects(t.Context(), client, dir, PhaseAddon, phase); !errors.Is(err, killed) || affinity(t, client) != nil {
		t.Fatalf("the phase did not fail: %v", err)
	}
	must(t, TrackObjects(t.Context(), client, dir, PhaseAddon, func() error { changeAddons(t, client, "new"); return nil }))
	if got := affinity(t, client); !reflect.DeepEqual(got, offVirtualNodes) {
		t.Errorf("the affinity is %+v", got)
	}
}

func TestKubeProxyWithoutAffinityGetsNone(t *testing.T) {
	client, _ := tracked(t)
	if got := affinity(t, client); got != nil {
		t.Errorf("the affinity is %+v", got)
	}
}
