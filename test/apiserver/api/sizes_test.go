//go:build apiserver

package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver"
)

const kib = 1024

// limits are the maximum sizes of objects.
var limits = map[string]int{"ClusterUpgrade": 144 * kib, "NodeUpgrade": 16 * kib, "NodeReport": 8 * kib}

// TestTheLargestObjects proves that a ClusterUpgrade and a NodeUpgrade stay within their limits
// even when every list is full and every text has its maximum length, in a cluster of 5,000 nodes.
// A NodeReport's bounds cannot be that narrow: they stop a host that writes nonsense. Only control
// plane nodes take backups and rehearse.
func TestTheLargestObjects(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		for _, tt := range []struct {
			kind    string
			without []string
			most    int
		}{
			{"ClusterUpgrade", nil, limits["ClusterUpgrade"]},
			{"NodeUpgrade", []string{"status", "backup"}, limits["NodeUpgrade"]},
			{"NodeUpgrade", nil, 36 * kib},
			{"NodeReport", nil, 56 * kib},
			{"ClusterRelease", nil, 520 * kib}, // half of it are components
			{"Component", nil, 352 * kib},      // without values, which are free
			{"ComponentUpgrade", nil, 24 * kib},
			{"BackupStore", nil, 6 * kib},
			{"EtcdBackup", nil, 28 * kib},
			{"UpgradeSchedule", nil, 48 * kib},
			{"MaintenanceWindow", nil, 24 * kib},
		} {
			content := sampler{kind: tt.kind, largest: true}.object(t, longestName(tt.kind))
			if tt.without != nil {
				unstructured.RemoveNestedField(content, tt.without...)
			}
			size := storedSize(t, s, content)
			t.Logf("the largest %s without %q has %d bytes of %d", tt.kind, tt.without, size, tt.most)
			if size > tt.most {
				t.Errorf("the largest %s without %q has %d bytes, that is more than %d", tt.kind, tt.without, size, tt.most)
			}
		}
	})
}

// longestName returns the longest name of a kind: some have the names of nodes.
func longestName(kind string) string {
	if kind == "NodeUpgrade" || kind == "NodeReport" {
		return strings.Repeat("n", 253)
	}
	if kind == "UpgradeSchedule" {
		return strings.Repeat("n", 52)
	}
	return strings.Repeat("n", 63)
}

// TestTheMetadataOfANodeReport measures what a report has besides its status: the agent reserves
// this much (objectOverhead) and two names of the node.
func TestTheMetadataOfANodeReport(t *testing.T) {
	const reserved = 1536
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		name := strings.Repeat("n", 253)
		content := sampler{kind: "NodeReport", largest: true}.object(t, name)
		status, err := json.Marshal(content["status"])
		must(t, err)
		metadata := storedSize(t, serverOf(t, version), content) - len(status) - 2*len(name)
		t.Logf("the metadata of a NodeReport has %d bytes of %d", metadata, reserved)
		if metadata > reserved {
			t.Errorf("the metadata has %d bytes, that is more than %d", metadata, reserved)
		}
	})
}

// TestTheSizesOfACluster measures realistic objects of a large cluster.
func TestTheSizesOfACluster(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		for _, large := range []any{largeOperation(), controlPlaneReport()} {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(large)
			must(t, err)
			kind := content["kind"].(string)
			size := storedSize(t, s, content)
			t.Logf("a %s of a cluster of 5,000 nodes has %d bytes of %d", kind, size, limits[kind])
			if size > limits[kind] {
				t.Errorf("a %s has %d bytes, that is more than %d", kind, size, limits[kind])
			}
		}
	})
}

// storedSize returns the size of an object as the server stores it, with an owner and the managed
// fields of its writers: a user or the controller, and for the status the controller, an agent or
// both.
func storedSize(t *testing.T, s *apiserver.Server, content map[string]any) int {
	t.Helper()
	object := &unstructured.Unstructured{Object: content}
	kind, name := object.GetKind(), object.GetName()
	client := objects(t, s.RESTConfig(), kind)
	status, _ := content["status"].(map[string]any)
	delete(content, "status")
	if kind == "NodeUpgrade" || kind == "NodeReport" {
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: "123e4567-e89b-12d3-a456-426614174000"}})
	}
	_, err := client.Apply(t.Context(), name, object, metav1.ApplyOptions{FieldManager: "refit-controller"})
	must(t, err)
	t.Cleanup(func() { deleteNow(t, s, object) })
	write := func(manager string, part map[string]any) {
		written := &unstructured.Unstructured{Object: map[string]any{"apiVersion": object.GetAPIVersion(), "kind": kind, "status": part}}
		written.SetName(name)
		_, err := client.ApplyStatus(t.Context(), name, written, metav1.ApplyOptions{FieldManager: manager})
		must(t, err)
	}
	switch kind {
	case "ClusterUpgrade", "EtcdBackup", "Component", "ComponentUpgrade", "UpgradeSchedule":
		write("refit-controller", status)
	case "NodeReport":
		write("refit-agent", status)
	case "NodeUpgrade":
		write("refit-controller", map[string]any{"drain": status["drain"], "trial": status["trial"]})
		delete(status, "drain")
		delete(status, "trial")
		write("refit-agent", status)
	}
	asker, err := discovery.NewDiscoveryClientForConfig(s.RESTConfig())
	must(t, err)
	raw, err := asker.RESTClient().Get().AbsPath("/apis/refit.dev/v1alpha1/"+strings.ToLower(kind)+"s/"+name).
		SetHeader("Accept", "application/json").DoRaw(t.Context())
	must(t, err)
	if !json.Valid(raw) {
		t.Fatalf("the answer is not JSON")
	}
	return len(raw)
}

// largeOperation returns an operation on 5,000 nodes with much activity.
func largeOperation() *refitv1alpha1.ClusterUpgrade {
	node := func(i int) string {
		return fmt.Sprintf("worker-%04d.rack-%02d.eu-central-1.compute.example.internal", i, i%50)
	}
	since := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	cu := &refitv1alpha1.ClusterUpgrade{}
	cu.APIVersion, cu.Kind, cu.Name = refitv1alpha1.GroupVersion.String(), "ClusterUpgrade", "to-v1.37.1"
	cu.Spec.Target.Kubernetes = "v1.37.1"
	cu.Spec.ApprovedPlan = hashA
	for i := range 16 {
		cu.Spec.Waivers = append(cu.Spec.Waivers, refitv1alpha1.Waiver{
			Check: "disruption-budget-allows-none", Object: fmt.Sprintf("PodDisruptionBudget team-%02d/checkout-frontend", i), Reason: "known to the team, see the change request",
		})
		cu.Spec.Pools = append(cu.Spec.Pools, refitv1alpha1.Pool{
			Name: fmt.Sprintf("zone-%02d", i), NodeSelector: refitv1alpha1.Labels{"topology.kubernetes.io/zone": fmt.Sprintf("eu-central-1-%02d", i)},
			Canary: &refitv1alpha1.Canary{Nodes: 2, Soak: metav1.Duration{Duration: 10 * time.Minute}},
			Drain: refitv1alpha1.Drain{
				When: refitv1alpha1.DrainMinorReleases, Timeout: metav1.Duration{Duration: 15 * time.Minute}, OnBlocked: refitv1alpha1.OnBlockedWait,
			},
		})
		cu.Status.Failures = append(cu.Status.Failures, refitv1alpha1.Failure{
			Node: node(i), Class: refitv1alpha1.FailureManualIntervention, Step: "kubelet-start",
			Message: "the kubelet did not become healthy within 2m0s: failed to run Kubelet: running with swap on is not supported",
			Remedy:  "turn swap off on the host, or set failSwapOn: false in its kubelet configuration, then run: refit retry to-v1.37.1",
		})
	}
	for i := range refitv1alpha1.MaxActive {
		cu.Status.Active = append(cu.Status.Active, node(i))
	}
	cu.Status.Phase, cu.Status.Epoch = refitv1alpha1.PhaseRunning, 12
	cu.Status.Message = "Draining " + node(7) + ": PodDisruptionBudget shop/cart allows 0 more disruptions"
	cu.Status.Plan = &refitv1alpha1.PlanSummary{Hash: hashA, From: "v1.34.4", WorkersFrom: "v1.34.4", To: "v1.37.1", Estimate: metav1.Duration{Duration: 31 * time.Hour}}
	for _, version := range []string{"v1.35.4", "v1.36.3", "v1.37.1"} {
		release := refitv1alpha1.ReleaseRef{Name: version, Digest: hashB}
		cu.Status.Plan.Hops = append(cu.Status.Plan.Hops, refitv1alpha1.Hop{Kubernetes: version, Release: release})
		for _, stage := range []refitv1alpha1.StageName{refitv1alpha1.StagePrefetch, refitv1alpha1.StageControlPlane, refitv1alpha1.StageWorkers} {
			cu.Status.Plan.Stages = append(cu.Status.Plan.Stages, refitv1alpha1.StageSummary{Name: stage, Kubernetes: version, Total: 5000, Done: 1234})
		}
	}
	cu.Status.Nodes = refitv1alpha1.NodeCounts{Total: 5000, Done: 1234, Failed: 16}
	for _, kind := range []string{"Ready", "Reconciling", "Stalled", "PreflightPassed", "Planned", "Approved", "Queued"} {
		cu.Status.Conditions = append(cu.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: refitv1alpha1.ReasonNodeFailed, LastTransitionTime: since, ObservedGeneration: 7,
			Message: strings.Repeat("20 of 5000 nodes failed and wait for a person. ", 6),
		})
	}
	return cu
}

// controlPlaneReport returns a large report of a control plane node: five etcd members, every
// certificate that kubeadm creates, a long kubelet configuration, drift, and no artifacts of the
// ClusterRelease yet.
func controlPlaneReport() *refitv1alpha1.NodeReport {
	yes := true
	offset, missing, inodes := int64(-123), int32(9), int32(93)
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	report := &refitv1alpha1.NodeReport{}
	report.APIVersion, report.Kind, report.Name = refitv1alpha1.GroupVersion.String(), "NodeReport", "control-plane-0001.rack-01.example.internal"
	report.Spec.Request = 17
	report.Status = refitv1alpha1.NodeReportStatus{
		Answered: 17, ObservedTime: &at, AgentVersion: "v0.1.0", OrderFormat: 1, PayloadVersion: 2, NodeUID: "123e4567-e89b-12d3-a456-426614174000",
		MachineID: strings.Repeat("e", 32), BootID: "123e4567-e89b-12d3-a456-426614174001", AcceptedSequence: 42, AcceptedEpoch: 42,
		ReleaseKeys: []string{hashA, hashB}, OS: "Ubuntu 24.04.2 LTS", Arch: "amd64", Kernel: "6.8.0-51-generic", PackageKind: refitv1alpha1.PackageDeb,
		HeldPackages:  []string{"kubeadm", "kubelet", "kubectl", "containerd.io", "cri-tools", "kubernetes-cni"},
		CgroupVersion: 2, SwapOn: &yes, Hostname: report.Name, ClockOffsetMilliseconds: &offset, EndpointReachable: &yes,
		ReadOnlyPaths: []string{"/usr/bin", "/opt/cni/bin"},
		Versions: refitv1alpha1.HostVersions{
			Kubelet: "v1.35.4", KubeletOnDisk: "v1.35.4", Kubeadm: "v1.35.4", Containerd: "2.1.4", Runc: "1.3.0", CNIPlugins: "1.7.1",
		},
		Kubelet: &refitv1alpha1.KubeletFacts{
			Flags: []string{
				"bootstrap-kubeconfig", "cloud-provider", "config", "config-dir", "container-runtime-endpoint", "hostname-override", "kubeconfig",
				"node-ip", "node-labels", "register-with-taints", "root-dir", "v",
			},
			FeatureGates: map[string]bool{"InPlacePodVerticalScaling": true, "NodeSwap": true, "KubeletInUserNamespace": false, "UserNamespacesSupport": true},
			FailCgroupV1: &yes,
		},
		Drift: &refitv1alpha1.DriftFacts{
			Known: true, MissingManifests: []string{}, APIReferences: []string{"kube-vip: ConfigMap kube-system/kube-vip"},
			UnparsableManifests: []string{"kube-apiserver.yaml.bak"},
		},
		Release: &refitv1alpha1.ReleaseRef{Name: "v1.36.3", Digest: hashB}, MissingArtifacts: &missing,
		CRI:       &refitv1alpha1.CRIFacts{Runtime: "containerd 2.1.4", RuntimeConfig: &yes},
		Etcd:      &refitv1alpha1.EtcdFacts{Name: report.Name, ID: "8e9e05c52164694d", Version: "3.6.5", Healthy: true, Leader: true, DBSizeMiB: 1723, QuotaMiB: 8192},
		APIServer: &refitv1alpha1.APIServerFacts{Version: "v1.35.4", Ready: true},
	}
	status := &report.Status
	for i := range 10 {
		status.Addresses = append(status.Addresses, fmt.Sprintf("2001:db8:1234:5678:9abc:def0:1234:%04x", i))
	}
	for i := range 5 {
		status.Drift.Differences = append(status.Drift.Differences,
			fmt.Sprintf("kube-apiserver: the argument --some-rather-long-flag-%d is set on the host and not in the cluster's configuration", i))
	}
	for i := range 5 {
		status.Etcd.Members = append(status.Etcd.Members, fmt.Sprintf("control-plane-%04d.rack-%02d.example.internal", i, i))
	}
	for i := range 9 {
		status.MissingImages = append(status.MissingImages, fmt.Sprintf("registry.example.com:5000/kubernetes/kube-controller-manager-%d:v1.36.3", i))
	}
	for i := range 49 {
		status.Kubelet.ConfigFields = append(status.Kubelet.ConfigFields, fmt.Sprintf("streamingConnectionTimeout%02d", i))
	}
	for _, path := range []string{"/", "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/etcd", "/var/lib/refit"} {
		status.Disks = append(status.Disks, refitv1alpha1.DiskFacts{Path: path, FreeMiB: 123456, NeededMiB: 2048, FreeInodesPercent: &inodes})
	}
	for _, name := range []string{
		"admin.conf", "apiserver", "apiserver-etcd-client", "apiserver-kubelet-client", "controller-manager.conf", "etcd-healthcheck-client",
		"etcd-peer", "etcd-server", "front-proxy-client", "scheduler.conf", "super-admin.conf", "ca", "etcd-ca", "front-proxy-ca", "kubelet-client",
	} {
		status.Certificates = append(status.Certificates, refitv1alpha1.CertificateFacts{Name: name, NotAfter: at})
	}
	return report
}
