package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// largest is a status in which every list and text has its maximum length.
func largest() refitv1alpha1.NodeReportStatus {
	many := func(n, length int) []string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("%0*d", length, i))
		}
		return list
	}
	at, yes, number, inodes := metav1.Now(), true, int64(-1_000_000_000_000), int32(100)
	missing := int32(100000)
	long := func(n int) string { return strings.Repeat("x", n) }
	gates := map[string]bool{}
	for _, gate := range many(maxGates, maxWord) {
		gates[gate] = false
	}
	s := refitv1alpha1.NodeReportStatus{
		Answered: 1_700_000_000, ObservedTime: &at, AgentVersion: long(maxAgentVersion), OrderFormat: 1000, PayloadVersion: 1000, NodeUID: "123e4567-e89b-12d3-a456-426614174000",
		MachineID: long(32), BootID: long(36), AcceptedSequence: 1_700_000_000, AcceptedEpoch: 1_700_000_000, ReleaseKeys: many(maxKeys, maxKey),
		OS: long(maxOS), Arch: "amd64", Kernel: long(maxKernel), PackageKind: refitv1alpha1.PackageBinary, HeldPackages: many(maxHeld, maxWord), CgroupVersion: 2,
		SwapOn: &yes, Hostname: long(maxName), ReadOnlyPaths: many(maxPaths, maxPath), ClockOffsetMilliseconds: &number, Addresses: many(maxAddresses, maxAddress),
		EndpointReachable: &yes,
		VirtualIPs: []refitv1alpha1.VirtualIPFacts{
			{Address: long(maxPath), Software: refitv1alpha1.Keepalived, HealthCheck: &yes, Shared: true},
			{Address: long(maxPath), Software: refitv1alpha1.Keepalived, HealthCheck: &yes, Shared: true},
			{Address: long(maxPath), Software: refitv1alpha1.Keepalived, HealthCheck: &yes, Shared: true},
			{Address: long(maxPath), Software: refitv1alpha1.Keepalived, HealthCheck: &yes, Shared: true},
		},
		Versions: refitv1alpha1.HostVersions{
			Kubelet: long(maxWord), KubeletOnDisk: long(maxWord), Kubeadm: long(maxWord), Containerd: long(maxWord), Runc: long(maxWord), CNIPlugins: long(maxWord),
		},
		Kubelet: &refitv1alpha1.KubeletFacts{Flags: many(maxFlags, maxWord), FeatureGates: gates, ConfigFields: many(maxFields, maxWord), ConfigFile: long(maxPath), FailCgroupV1: &yes},
		ServiceWrappers: []refitv1alpha1.ServiceWrapper{
			{Binary: long(maxWord), Path: long(maxPath)}, {Binary: long(maxWord), Path: long(maxPath)},
		},
		Drift: &refitv1alpha1.DriftFacts{
			Differences: many(maxDifferences, maxDifference), SecuritySettings: many(maxSettings, maxSetting), MissingManifests: many(maxManifests, maxWord),
			UnparsableManifests: many(maxManifests, maxWord), APIReferences: many(maxManifests, maxPath),
		},
		Release: &refitv1alpha1.ReleaseRef{Name: long(63), Digest: long(71)}, MissingArtifacts: &missing, MissingImages: many(maxImages, maxImage),
		CRI: &refitv1alpha1.CRIFacts{Runtime: long(maxWord), RuntimeConfig: &yes},
		Etcd: &refitv1alpha1.EtcdFacts{
			Name: long(maxName), ID: long(16), Version: long(maxWord), Healthy: true, Leader: true, Members: many(maxMembers, maxName), Alarms: many(4, 32),
			DBSizeMiB: 1e9, QuotaMiB: 1e9,
		},
		ExternalEtcd: &refitv1alpha1.ExternalEtcdFacts{ClusterID: long(16), Alarms: many(4, 32), DBSizeMiB: 1e9, QuotaMiB: 1e9},
		APIServer:    &refitv1alpha1.APIServerFacts{Version: long(maxWord), Ready: true},
	}
	for range maxExternal {
		s.ExternalEtcd.Members = append(s.ExternalEtcd.Members, refitv1alpha1.ExternalEtcdMember{
			Name: long(maxName), ID: long(16), Version: long(maxWord), Healthy: true, Leader: true, Learner: true, Problem: long(maxProblem),
		})
	}
	for range maxParts {
		s.Parts = append(s.Parts, refitv1alpha1.PartFacts{
			Part: refitv1alpha1.Part(long(16)), Kind: refitv1alpha1.PackageBinary, Package: long(maxWord), Absent: true,
			Files: slices.Repeat([]string{long(maxPartFile)}, maxPartFiles),
		})
	}
	for range maxDisks {
		s.Disks = append(s.Disks, refitv1alpha1.DiskFacts{Path: long(maxPath), FreeMiB: 1e12, NeededMiB: 1e12, FreeInodesPercent: &inodes})
	}
	for range maxCertificates {
		s.Certificates = append(s.Certificates, refitv1alpha1.CertificateFacts{Name: long(maxWord), NotAfter: at, ExternalCA: true})
	}
	return s
}

func sizeAs(t *testing.T, s refitv1alpha1.NodeReportStatus) int {
	t.Helper()
	raw, err := json.Marshal(s)
	must(t, err)
	return len(raw)
}

func TestTheLargestReportFits(t *testing.T) {
	for situation, s := range map[string]refitv1alpha1.NodeReportStatus{
		"stacked etcd":  with(largest(), func(s *refitv1alpha1.NodeReportStatus) { s.ExternalEtcd = nil }),
		"external etcd": with(largest(), func(s *refitv1alpha1.NodeReportStatus) { s.Etcd = nil }),
	} {
		t.Run(situation, func(t *testing.T) { fits(t, s) })
	}
}

func with(s refitv1alpha1.NodeReportStatus, change func(*refitv1alpha1.NodeReportStatus)) refitv1alpha1.NodeReportStatus {
	change(&s)
	return s
}

func fits(t *testing.T, s refitv1alpha1.NodeReportStatus) {
	t.Helper()
	name := strings.Repeat("n", maxName)
	bound(&s, name)
	if got, most := sizeAs(t, s), maxReport-objectOverhead-2*len(name); got > most {
		t.Errorf("the status has %d bytes of %d", got, most)
	}
	if len(s.Truncated) == 0 || len(s.Truncated) > maxTruncated {
		t.Errorf("truncated: %q", s.Truncated)
	}
	left := map[string]int{
		"missingImages": len(s.MissingImages), "drift.differences": len(s.Drift.Differences), "drift.securitySettings": len(s.Drift.SecuritySettings),
		"readOnlyPaths": len(s.ReadOnlyPaths), "kubelet.flags": len(s.Kubelet.Flags),
	}
	if s.Etcd != nil {
		left["etcd.members"] = len(s.Etcd.Members)
	} else {
		left["externalEtcd.members"] = len(s.ExternalEtcd.Members)
	}
	for list, left := range left {
		if left == 0 {
			t.Errorf("nothing is left of %s, which looks like a healthy host", list)
		}
	}
}

// Decisions rely on each list that is not named.
func TestEveryTruncatedListIsNamed(t *testing.T) {
	s := largest()
	more := func(lists ...*[]string) {
		for _, list := range lists {
			*list = append(*list, "one more")
		}
	}
	more(&s.ReleaseKeys, &s.HeldPackages, &s.ReadOnlyPaths, &s.Addresses, &s.MissingImages, &s.Kubelet.Flags, &s.Kubelet.ConfigFields,
		&s.Drift.Differences, &s.Drift.SecuritySettings, &s.Drift.MissingManifests, &s.Drift.UnparsableManifests, &s.Drift.APIReferences,
		&s.Etcd.Members, &s.Etcd.Alarms, &s.ExternalEtcd.Alarms)
	s.ExternalEtcd.Members = append(s.ExternalEtcd.Members, refitv1alpha1.ExternalEtcdMember{})
	s.Kubelet.FeatureGates["OneMore"] = true
	s.Disks[0].Path += "/one-more"
	s.Certificates[0].Name += "-one-more"
	s.ServiceWrappers[0].Path += "/one-more"
	s.VirtualIPs[0].Address += "-one-more"
	s.Parts = append(s.Parts, refitv1alpha1.PartFacts{Part: refitv1alpha1.PartKubelet})
	bound(&s, "cp-1")
	want := []string{
		"addresses", "certificates", "disks", "drift.apiReferences", "drift.differences", "drift.missingManifests", "drift.securitySettings",
		"drift.unparsableManifests", "etcd.alarms", "etcd.members", "externalEtcd.alarms", "externalEtcd.members", "heldPackages", "kubelet.configFields", "kubelet.featureGates", "kubelet.flags",
		"missingImages", "parts", "parts.files", "readOnlyPaths", "releaseKeys", "serviceWrappers",
		"virtualIPs",
	}
	if got := slices.Sorted(slices.Values(s.Truncated)); !slices.Equal(got, want) {
		t.Errorf("truncated: %q", got)
	}
	if len(want) > maxTruncated {
		t.Errorf("the API accepts %d names", maxTruncated)
	}
}

// A control plane node with many security settings keeps all of them: what no decision needs goes
// first.
func TestAReportWithManySecuritySettings(t *testing.T) {
	s := refitv1alpha1.NodeReportStatus{
		Kubelet: &refitv1alpha1.KubeletFacts{Flags: []string{"config"}, ConfigFields: slices.Repeat([]string{"streamingConnectionIdleTimeout"}, 50)},
		Drift:   &refitv1alpha1.DriftFacts{Known: true, Differences: []string{"kube-apiserver: --audit-log-path"}},
	}
	for i := range maxSettings {
		s.Drift.SecuritySettings = append(s.Drift.SecuritySettings, fmt.Sprintf("kube-apiserver mount /etc/kubernetes/%0*d", maxSetting-40, i))
	}
	for i := range maxImages {
		s.MissingImages = append(s.MissingImages, fmt.Sprintf("registry.example.com:5000/kubernetes/%0200d", i))
	}
	settings := slices.Clone(s.Drift.SecuritySettings)
	bound(&s, "cp-1")
	if got, most := sizeAs(t, s), maxReport-objectOverhead-2*len("cp-1"); got > most {
		t.Errorf("the status has %d bytes of %d", got, most)
	}
	if !slices.Equal(s.Drift.SecuritySettings, settings) || !slices.Equal(s.Truncated, []string{"missingImages"}) {
		t.Errorf("truncated: %q, %d settings", s.Truncated, len(s.Drift.SecuritySettings))
	}
}

// A part that is missing in a report counts as installed like the kubelet.
func TestAFullReportKeepsHowThePluginsAreInstalled(t *testing.T) {
	plugins := refitv1alpha1.PartFacts{Part: refitv1alpha1.PartCNI, Kind: refitv1alpha1.PackageBinary, Files: slices.Repeat([]string{"host-device"}, 18)}
	parts := []refitv1alpha1.PartFacts{{Part: refitv1alpha1.PartRunc, Absent: true}, plugins}
	s := refitv1alpha1.NodeReportStatus{PackageKind: refitv1alpha1.PackageDeb, Parts: parts, HeldPackages: []string{"kubelet", "kubeadm"}}
	(&cutter{}).fit(&s, sizeOf(&s)-1)
	if len(s.Parts) != 2 || s.Parts[1].Kind != refitv1alpha1.PackageBinary || len(s.Parts[1].Files) > 0 || len(parts[1].Files) != 18 {
		t.Errorf("%+v", s.Parts)
	}
	if !slices.Equal(s.Truncated, []string{"parts.files"}) || len(s.HeldPackages) != 2 {
		t.Errorf("truncated: %q, %q", s.Truncated, s.HeldPackages)
	}
}
