package observe

import (
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestLeaseOf(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	spec := func(holder string, ago time.Duration) coordinationv1.LeaseSpec {
		renewed, seconds := metav1.NewMicroTime(now.Add(-ago)), int32(15)
		return coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed, LeaseDurationSeconds: &seconds}
	}
	for name, test := range map[string]struct {
		spec coordinationv1.LeaseSpec
		want lease
	}{
		"just renewed":                 {spec("a", time.Second), lease{"a", true}},
		"a little late":                {spec("a", 20*time.Second), lease{"a", true}},
		"renewed an hour ago":          {spec("a", time.Hour), lease{"a", false}},
		"released":                     {spec("", time.Second), lease{}},
		"never renewed":                {coordinationv1.LeaseSpec{HolderIdentity: new("a")}, lease{"a", false}},
		"clock of the holder is ahead": {spec("a", -time.Minute), lease{"a", true}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := leaseOf(&test.spec, now); got != test.want {
				t.Errorf("it is %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestActors(t *testing.T) {
	obs := newObservation(&Reader{}, "", &meter{})
	obs.leases["cluster-autoscaler"] = lease{"pod-1", true}
	obs.leases["descheduler"] = lease{} // released
	obs.collectSigns(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1", Annotations: map[string]string{"cluster.x-k8s.io/machine": "m"}}})
	obs.snapshot.Workloads = []cluster.Workload{
		{Namespace: "kube-system", Kind: "DaemonSet", Name: "kured", Pods: 2},
		{Namespace: "shop", Kind: "Job", Name: "karpenter", Pods: 1, Ready: 1}, // not a known controller
		{Namespace: "argocd", Kind: "StatefulSet", Name: "argocd-application-controller", Pods: 1, Ready: 1},
	}
	obs.snapshot.CRDs = []cluster.CRD{{Name: "plans.upgrade.cattle.io"}, {Name: "applications.argoproj.io"}}
	if err := obs.readActors(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []cluster.Actor{
		{Kind: "ClusterAutoscaler", Object: "Lease kube-system/cluster-autoscaler", Active: cluster.Yes, Detail: "held by pod-1"},
		{Kind: "ClusterAPI", Object: "Node worker-1", Active: cluster.Yes, Detail: "annotation cluster.x-k8s.io/machine"},
		{Kind: "SystemUpgradeController", Object: "CustomResourceDefinition plans.upgrade.cattle.io", Detail: "no active controller found"},
		{Kind: "Kured", Object: "DaemonSet kube-system/kured", Active: cluster.No},
		{Kind: "ArgoCD", Object: "StatefulSet argocd/argocd-application-controller", Active: cluster.Yes},
	}
	if !slices.Equal(obs.snapshot.Actors, want) {
		t.Errorf("they are %+v", obs.snapshot.Actors)
	}
}

func TestAnnotationWithValueFalseIsIgnored(t *testing.T) {
	const annotation = "flatcar-linux-update.v1.flatcar-linux.net/reboot-in-progress"
	for value, want := range map[string]int{"false": 0, "true": 1} {
		obs := newObservation(&Reader{}, "", &meter{})
		obs.collectSigns(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1", Annotations: map[string]string{annotation: value}}})
		if got := obs.nodeSigns["FlatcarUpdateOperator"].nodes; got != want {
			t.Errorf("with %s: %d nodes", value, got)
		}
	}
}

func TestActorIsActiveIfAnyOfItsPodsIsReady(t *testing.T) {
	obs := newObservation(&Reader{}, "", &meter{})
	obs.snapshot.Workloads = []cluster.Workload{
		{Namespace: "kube-system", Kind: "Deployment", Name: "karpenter", Pods: 1, Budgets: []string{"old"}},
		{Namespace: "kube-system", Kind: "Deployment", Name: "karpenter", Pods: 1, Ready: 1},
	}
	if err := obs.readActors(t.Context()); err != nil || len(obs.snapshot.Actors) != 1 || obs.snapshot.Actors[0].Active != cluster.Yes {
		t.Errorf("they are %+v (%v)", obs.snapshot.Actors, err)
	}
}
