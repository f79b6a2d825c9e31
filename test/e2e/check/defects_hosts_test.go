//go:build e2e

package check

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// hostDefects are the defects that only an agent on the host can detect.
func hostDefects() []defect {
	type status = refitv1alpha1.NodeReportStatus
	in := func(d time.Duration) metav1.Time {
		return metav1.NewTime(time.Now().Add(d).UTC().Truncate(time.Second))
	}
	const worker, leader, follower = "Node check-worker-1", "etcd member check-cp-1", "etcd member check-cp-3"
	return []defect{
		{
			name: "a kubelet flag that is removed two hops on", to: newest,
			faults: []fault{onHost("worker-1", func(s *status) { s.Kubelet.Flags = append(s.Kubelet.Flags, "containerd-namespace") })},
			want:   []want{{check: "RemovedKubeletFlag", object: worker, says: "containerd-namespace"}},
		},
		{
			name:   "a removed feature gate of one kubelet",
			faults: []fault{onHost("worker-1", func(s *status) { s.Kubelet.FeatureGates = map[string]bool{"MemoryManager": true} })},
			want:   []want{{check: "RemovedFeatureGate", object: worker, says: "MemoryManager"}},
		},
		{
			name:   "an etcd member that does not answer",
			faults: []fault{onHost("cp-3", func(s *status) { s.Etcd.Healthy = false })},
			want:   []want{{check: "EtcdMemberUnhealthy", object: follower}},
		},
		{
			name:   "an etcd member without a vote",
			faults: []fault{onHost("cp-3", func(s *status) { s.Etcd.Learner = true })},
			want:   []want{{check: "EtcdLearner", object: follower}},
		},
		{
			name:   "an alarm of etcd",
			faults: []fault{onHost("cp-1", func(s *status) { s.Etcd.Alarms = []string{"NOSPACE"} })},
			want:   []want{{check: "EtcdAlarm", object: leader}},
		},
		{
			name:   "a database of etcd that is nearly full",
			faults: []fault{onHost("cp-1", func(s *status) { s.Etcd.DBSizeMiB = s.Etcd.QuotaMiB * 9 / 10 })},
			want:   []want{{check: "EtcdNearQuota", object: leader}},
		},
		{
			name:   "an etcd member of a node that is gone",
			faults: []fault{onHost("cp-1", func(s *status) { s.Etcd.Members = append(s.Etcd.Members, "check-cp-4") })},
			want:   []want{{check: "EtcdMembershipDiffers", object: leader}},
		},
		{
			name: "a certificate that expired",
			faults: []fault{onHost("cp-3", func(s *status) {
				s.Certificates = append(s.Certificates, refitv1alpha1.CertificateFacts{Name: "etcd-server", NotAfter: in(-24 * time.Hour)})
			})},
			want: []want{{check: "CertificateExpired", object: "Node check-cp-3", says: "etcd-server"}},
		},
		{
			name: "a certificate that expires soon",
			faults: []fault{onHost("cp-1", func(s *status) {
				s.Certificates = append(s.Certificates, refitv1alpha1.CertificateFacts{Name: "front-proxy-client", NotAfter: in(240 * time.Hour)})
			})},
			want: []want{{check: "CertificateExpiresSoon", object: "Node check-cp-1", says: "front-proxy-client", weighs: warn}},
		},
		{
			name:   "a disk that is too small",
			faults: []fault{onHost("worker-1", func(s *status) { s.Disks[0].FreeMiB = 300 })},
			want:   []want{{check: "DiskTooSmall", object: worker, says: "/var/lib/containerd"}},
		},
		{
			name:   "a disk without inodes",
			faults: []fault{onHost("worker-1", func(s *status) { s.Disks[1].FreeInodesPercent = new(int32(1)) })},
			want:   []want{{check: "InodesLow", object: worker, says: "/usr"}},
		},
		{
			name: "cgroup v1 without leave to use it",
			faults: []fault{
				onHost("worker-2", func(s *status) { s.CgroupVersion = 1 }),
				edited(kubeletConfig, set("failCgroupV1", true)),
			},
			want: []want{{check: "CgroupV1", object: "Node check-worker-2"}},
		},
		{
			name:   "a clock that is an hour ahead",
			faults: []fault{onHost("worker-1", func(s *status) { s.ClockOffsetMilliseconds = new(int64(3600_000)) })},
			want:   []want{{check: "ClockSkewed", object: worker}},
		},
		{
			name:   "a host with rpm packages and a ClusterRelease without them",
			faults: []fault{onHost("worker-2", func(s *status) { s.PackageKind = refitv1alpha1.PackageRpm })},
			want:   []want{{check: "NotInRelease", object: "Node check-worker-2"}},
		},
		{
			name:   "a directory that cannot be written",
			faults: []fault{onHost("worker-1", func(s *status) { s.ReadOnlyPaths = []string{"/usr/local/bin"} })},
			want:   []want{{check: "ReadOnlyHost", object: worker}},
		},
		{
			name:   "an agent that does not understand the orders",
			faults: []fault{onHost("worker-1", func(s *status) { s.OrderFormat = 0 })},
			want:   []want{{check: "AgentTooOld", object: worker}},
		},
		{
			name:   "a report of a machine that is gone",
			faults: []fault{onHost("worker-2", func(s *status) { s.NodeUID = "5c5bd85d-96d0-4b2c-9a01-6ed5e9a3b2c1" })},
			want:   []want{{check: "ReportOfAnotherMachine", object: "Node check-worker-2"}},
		},
		{
			name:   "a host without a key",
			faults: []fault{onHost("worker-1", func(s *status) { s.ReleaseKeys = nil })},
			want:   []want{{check: "ReleaseKeyMissing", object: worker}},
		},
		{
			name:   "a host that does not reach the endpoint",
			faults: []fault{onHost("worker-1", func(s *status) { s.EndpointReachable = new(false) })},
			want:   []want{{check: "EndpointUnreachable", object: worker}},
		},
		{
			name:   "a manifest that the agent misses",
			faults: []fault{onHost("cp-1", func(s *status) { s.Drift.MissingManifests = []string{"kube-controller-manager"} })},
			want:   []want{{check: "StaticPodMissing", object: "Node check-cp-1", says: "kube-controller-manager"}},
		},
		{
			name:   "a file among the manifests that is no pod",
			faults: []fault{onHost("cp-1", func(s *status) { s.Drift.UnparsableManifests = []string{"etcd.yaml.bak"} })},
			want:   []want{{check: "ManifestUnparsable", object: "Node check-cp-1"}},
		},
		{
			name:   "a manifest that was edited by hand",
			faults: []fault{onHost("cp-1", func(s *status) { s.Drift.Differences = []string{"kube-scheduler has --v=4"} })},
			want:   []want{{check: "ManifestHandEdited", object: "Node check-cp-1", weighs: warn}},
		},
		{
			name: "a static pod that the kubelet of two hops on refuses", to: newest,
			faults: []fault{onHost("cp-1", func(s *status) { s.Drift.APIReferences = []string{"node-exporter: Secret"} })},
			want:   []want{{check: "StaticPodReferencesAPI", object: "Node check-cp-1"}},
		},
		{
			name:   "a kubelet that was replaced and not restarted",
			faults: []fault{onHost("worker-1", func(s *status) { s.Versions.KubeletOnDisk = newer })},
			want:   []want{{check: "KubeletReplaced", object: worker, weighs: warn}},
		},
		{
			name:   "a container runtime that is too old soon",
			faults: []fault{onHost("worker-1", func(s *status) { s.CRI.RuntimeConfig = new(false) })},
			want:   []want{{check: "CRIRuntimeConfigMissing", object: worker, weighs: warn}},
		},
		{
			name:   "swap",
			faults: []fault{onHost("worker-1", func(s *status) { s.SwapOn = new(true) })},
			want:   []want{{check: "SwapOn", object: worker, weighs: info}},
		},
	}
}
