//go:build apiserver

package observe

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// checkWorld compares a Snapshot with the objects of world.
func checkWorld(t *testing.T, got *cluster.Snapshot, version string, impostor *impostor) {
	t.Helper()
	if got.Version != version || got.UID == "" || !got.Installed {
		t.Errorf("it is cluster %q at %s, installed: %t", got.UID, got.Version, got.Installed)
	}
	checkNodes(t, got)
	checkWorkloads(t, got)
	checkExtensions(t, got)
	checkHelm(t, got)
	checkServers(t, got, version, impostor)
	checkKubeadm(t, got)
	checkRefit(t, got)
	for _, gap := range got.Gaps {
		if gap.Object == "" {
			t.Errorf("a whole part is missing: %+v", gap)
		}
	}
}

func checkNodes(t *testing.T, got *cluster.Snapshot) {
	t.Helper()
	if len(got.Nodes) != 3 || len(got.ControlPlane()) != 2 {
		t.Fatalf("there are %d nodes, %d of the control plane", len(got.Nodes), len(got.ControlPlane()))
	}
	cp, worker := got.Node("cp-1"), got.Node("worker-1")
	if cp.KubeProxy != "v1.35.4" || cp.Zone != "a" || cp.Ready != cluster.Yes || len(cp.Taints) != 2 || cp.Allocatable.MilliCPU != 2000 || cp.UID == "" {
		t.Errorf("cp-1 is %+v", cp)
	}
	apiServer, etcd := cp.Static["kube-apiserver"], cp.Static["etcd"]
	wantFlags := map[string]string{"feature-gates": "InPlacePodVerticalScaling=true", "etcd-servers": "", "token-auth-file": ""}
	if apiServer.Version != "v1.35.4" || !apiServer.Ready || !reflect.DeepEqual(apiServer.Flags, wantFlags) || etcd.Version != "3.6.6" {
		t.Errorf("cp-1 has the API server %+v and etcd %+v", apiServer, etcd)
	}
	if !worker.Unschedulable || worker.CordonedBy != "operation-uid" || !slices.Equal(worker.Pressure, []string{"DiskPressure"}) || worker.Static != nil {
		t.Errorf("worker-1 is %+v", worker)
	}
}

func checkWorkloads(t *testing.T, got *cluster.Snapshot) {
	t.Helper()
	find := func(kind, name string) cluster.Workload {
		for _, w := range got.Workloads {
			if w.Kind == kind && w.Name == name {
				return w
			}
		}
		t.Errorf("there is no %s %s", kind, name)
		return cluster.Workload{}
	}
	web := cluster.Workload{
		Namespace: "shop", Kind: "Deployment", Name: "web", Pods: 2, Ready: 1, Budgets: []string{"web"},
		Request: cluster.Resources{MilliCPU: 250, Memory: 64 << 20}, GraceSeconds: 30,
	}
	if w := find("Deployment", "web"); !reflect.DeepEqual(w, web) {
		t.Errorf("web is %+v", w)
	}
	if w := find("StatefulSet", "db"); !w.LocalVolume || w.LocalData {
		t.Errorf("db is %+v", w)
	}
	if w := find("Pod", "by-hand"); w.Pods != 1 || w.Ready != 0 {
		t.Errorf("by-hand is %+v", w)
	}
	if w := find("Node", "kube-apiserver"); w.Pods != 2 {
		t.Errorf("kube-apiserver is %+v", w)
	}
	onWorker := map[string]cluster.PodSet{}
	for _, set := range got.Node("worker-1").Pods {
		onWorker[got.Workloads[set.Workload].Name] = set
	}
	if len(onWorker) != 2 || onWorker["web"].Count != 2 || onWorker["web"].Unready != 1 || onWorker["db"].Count != 1 {
		t.Errorf("worker-1 has %+v", onWorker)
	}
	want := cluster.Budget{Namespace: "shop", Name: "web", MinAvailable: "1", Expected: 2, Healthy: 1, Desired: 1, Matched: 2, Observed: true}
	if len(got.Budgets) != 1 || got.Budgets[0] != want {
		t.Errorf("the budgets are %+v", got.Budgets)
	}
}

func checkExtensions(t *testing.T, got *cluster.Snapshot) {
	t.Helper()
	guard := &cluster.Backend{Namespace: "shop", Service: "guard", Found: cluster.Yes, Ready: 1, Nodes: []string{"worker-1"}}
	want := []cluster.Webhook{
		{
			Configuration: "guard", Name: "pods.guard.example.com", FailClosed: true, Equivalent: true, TimeoutSec: 7,
			Resources: []string{"shop.example.com/carts"}, Reaches: []string{"kube-node-lease"}, ReachesItself: true, Backend: guard,
		},
		{
			Configuration: "outside", Mutating: true, Name: "carts.outside.example.com", Equivalent: true, TimeoutSec: 10, HasObjectSelector: true,
			Resources: []string{"/none", "apps/none"}, Reaches: []string{"kube-system", "kube-node-lease"}, URL: "https://hooks.example.com",
		},
	}
	if !reflect.DeepEqual(got.Webhooks, want) {
		t.Errorf("the webhooks are %+v, backend %+v", got.Webhooks, got.Webhooks[0].Backend)
	}
	if len(got.APIs) != 1 || got.APIs[0].Name != "v1beta1.metrics.k8s.io" || got.APIs[0].Available == cluster.Yes || got.APIs[0].Backend.Found != cluster.No {
		t.Errorf("the aggregated APIs are %+v", got.APIs)
	}
	place := slices.IndexFunc(got.CRDs, func(c cluster.CRD) bool { return c.Kind == "Cart" })
	carts := cluster.CRD{
		Name: "carts.shop.example.com", Group: "shop.example.com", Kind: "Cart", Versions: []string{"v1", "v1beta1"}, Served: []string{"v1"},
		Storage: "v1", StoredVersions: []string{"v1"}, Established: cluster.Yes,
	}
	if place < 0 || !reflect.DeepEqual(got.CRDs[place], carts) {
		t.Errorf("the CRDs are %+v", got.CRDs)
	}
	if want := []cluster.Volume{{Name: "old-ceph", Kind: "rbd"}}; !slices.Equal(got.Volumes, want) {
		t.Errorf("the volumes are %+v", got.Volumes)
	}
	if want := []cluster.Service{{Namespace: "shop", Name: "guard", ExternalIPs: []string{"198.51.100.9"}}}; !reflect.DeepEqual(got.Services, want) {
		t.Errorf("the services are %+v", got.Services)
	}
	actors := []cluster.Actor{
		{Kind: "ClusterAutoscaler", Object: "Lease kube-system/cluster-autoscaler", Active: cluster.No, Detail: "held by autoscaler-pod"},
		{Kind: "ClusterAPI", Object: "Node worker-1", Active: cluster.Yes, Detail: "annotation cluster.x-k8s.io/machine"},
	}
	if !slices.Equal(got.Actors, actors) {
		t.Errorf("the other actors are %+v", got.Actors)
	}
}

func checkHelm(t *testing.T, got *cluster.Snapshot) {
	t.Helper()
	want := []cluster.Helm{
		{Namespace: "shop", Name: "cart", Revision: 3, Status: "pending-upgrade", Chart: "cart-1.2.3", Objects: []cluster.Object{
			{APIVersion: "policy/v1beta1", Kind: "PodDisruptionBudget", Name: "cart"},
			{APIVersion: "v1", Kind: "Secret", Name: "cart"},
			{APIVersion: "policy/v1", Kind: "PodDisruptionBudget", Name: "cart"},
		}},
		{Namespace: "shop", Name: "mail", Revision: 2, Status: "failed", Chart: "mail-1.2.3", Objects: []cluster.Object{
			{APIVersion: "v1", Kind: "Service", Name: "mail-2"},
		}},
	}
	if !reflect.DeepEqual(got.Helm, want) {
		t.Errorf("the Helm releases are %+v", got.Helm)
	}
}

func checkServers(t *testing.T, got *cluster.Snapshot, version string, impostor *impostor) {
	t.Helper()
	own := got.APIServer("cp-1")
	if own.Via != cluster.ViaAddress || own.Version != version || own.Ready != cluster.Yes || own.DeprecatedKnown != cluster.Yes {
		t.Errorf("the API server of cp-1 is %+v", own)
	}
	other := got.APIServer("cp-2")
	if other.Via != cluster.ViaPodProxy || other.Version != "v1.35.3" || other.Ready != cluster.No || !slices.Equal(other.Failing, []string{"etcd"}) ||
		other.DeprecatedKnown != cluster.Unknown {
		t.Errorf("the API server of cp-2 is %+v", other)
	}
	if !slices.ContainsFunc(got.Gaps, func(g cluster.Gap) bool {
		return g.Part == cluster.PartDeprecated && g.Object == "Node cp-2" && g.Kind == cluster.GapForbidden && strings.Contains(g.Message, "/metrics")
	}) {
		t.Errorf("nothing says that the metrics of cp-2 are not known: %+v", got.Gaps)
	}
	close(impostor.asked)
	for header := range impostor.asked {
		if header.Get("X-Forwarded-For") == "" || header.Get("Authorization") != "" {
			t.Errorf("somebody without the cluster's certificate was asked directly: %v", header)
		}
	}
	want := cluster.Endpoint{
		Address: "203.0.113.7:6443", IPs: []netip.Addr{netip.MustParseAddr("203.0.113.7")}, Holder: "cp-2", Via: cluster.ViaKubeVIP,
	}
	if !reflect.DeepEqual(got.Endpoint, want) {
		t.Errorf("the endpoint is %+v", got.Endpoint)
	}
}

func checkKubeadm(t *testing.T, got *cluster.Snapshot) {
	t.Helper()
	no := false
	want := &cluster.Kubeadm{
		APIVersion: "kubeadm.k8s.io/v1beta4", KubernetesVersion: "v1.35.4", ClusterName: "shop", Endpoint: "203.0.113.7:6443",
		ImageRepository: "registry.k8s.io", EtcdImageTag: "3.6.6-0", DNSImageTag: "v1.13.1", FeatureGates: map[string]bool{"NodeLocalCRISocket": true},
		ExtraArgs: map[string]map[string]string{"kube-apiserver": {"feature-gates": "InPlacePodVerticalScaling=true", "oidc-client-id": ""}},
		Kubelet: &cluster.KubeletConfig{
			Fields: []string{
				"clusterDNS[]", "evictionHard.memory.available", "failCgroupV1", "featureGates.MutableCSINodeAllocatableCount",
				"staticPodURLHeader.Authorization[]",
			},
			FeatureGates: map[string]bool{"MutableCSINodeAllocatableCount": true}, FailCgroupV1: &no,
		},
		HasProxy: true, ProxyMode: "ipvs",
		HasDNS: true, DNSVersion: "v1.13.1", CorefilePlugins: []string{"errors", "forward", "kubernetes", "route53"},
	}
	if !reflect.DeepEqual(got.Kubeadm, want) {
		t.Errorf("kubeadm's configuration is %+v, of the kubelet %+v", got.Kubeadm, got.Kubeadm.Kubelet)
	}
}

func checkRefit(t *testing.T, got *cluster.Snapshot) {
	t.Helper()
	worker := got.Node("worker-1")
	if worker.ReportRequest != 4 || worker.Report == nil || worker.Report.Answered != 4 || worker.Report.Hostname != "worker-1" {
		t.Errorf("worker-1 reports %+v to the request %d", worker.Report, worker.ReportRequest)
	}
	if u := worker.Upgrade; u == nil || u.Spec.Permit != "Apply" || u.Status.Error == nil || u.Status.Error.Reason != "DiskFull" || u.Status.Error.LogTail != "" {
		t.Errorf("the work on worker-1 is %+v", u)
	}
	if len(got.Releases) != 2 {
		t.Fatalf("the ClusterReleases are %+v", got.Releases)
	}
	if good := got.Releases[0]; good.Error != "" || good.Payload.Etcd != "3.6.8" || !strings.HasPrefix(good.Digest, "sha256:") {
		t.Errorf("the good Release is %+v", good)
	}
	if lying := got.Releases[1]; !strings.Contains(lying.Error, `spec.kubernetes is "v1.36.3", but the signed version is "v1.36.2"`) {
		t.Errorf("the lying Release is %+v", lying)
	}
	if got.Operation == nil || got.Operation.Spec.Target.Kubernetes != "v1.36.3" || got.Operation.Ended || got.Operation.Generation != 1 {
		t.Errorf("the operation is %+v", got.Operation)
	}
	if !slices.Equal(got.Others, []string{"former"}) { // the other one is younger, and waits for this one
		t.Errorf("the unfinished operations before it are %v", got.Others)
	}
}
