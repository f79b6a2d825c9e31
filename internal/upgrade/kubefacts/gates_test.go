package kubefacts

import (
	"slices"
	"testing"
)

func TestSetGate(t *testing.T) {
	for _, tc := range []struct {
		situation, minor, gate string
		value                  bool
		want                   GateAnswer
	}{
		{"an unknown gate", "1.36", "NoSuchGate", true, GateUnknown},
		{"a gate in another case", "1.36", "imagevolume", true, GateUnknown},
		{"before it was removed", "1.35", "MemoryManager", true, GateAccepted},
		{"after it was removed", "1.36", "MemoryManager", true, GateUnknown},
		{"disabled before it was locked", "1.35", "ImageVolume", false, GateAccepted},
		{"disabled after it was locked", "1.36", "ImageVolume", false, GateLocked},
		{"enabled and locked to true", "1.36", "ImageVolume", true, GateAccepted},
		{"enabled and locked to false", "1.36", "GitRepoVolumeDriver", true, GateLocked},
		{"all of a stage", "1.36", "AllBeta", false, GateAccepted},
	} {
		for _, component := range Components() {
			if got := facts(t, tc.minor).SetGate(component, tc.gate, tc.value); got != tc.want {
				t.Errorf("%s: %s of %s %s set to %t is %s, want %s", tc.situation, tc.gate, component, tc.minor, tc.value, got, tc.want)
			}
		}
	}
}

func TestGateOfSomeComponents(t *testing.T) {
	const gate = "ControllerManagerReleaseLeaderElectionLockOnExit"
	f := facts(t, "1.36")
	for component, want := range map[string]bool{KubeControllerManager: true, KubeScheduler: false, "etcd": false} {
		if _, known := f.Gate(component, gate); known != want {
			t.Errorf("%s has it: %t", component, known)
		}
	}
}

func TestRemovedGates(t *testing.T) {
	var names []string
	for _, gate := range RemovedGates(facts(t, "1.35"), facts(t, "1.36"), Kubelet) {
		names = append(names, gate.Name)
	}
	want := []string{
		"CSIMigrationPortworx", "HonorPVReclaimPolicy", "InPlacePodVerticalScalingAllocatedStatus", "InTreePluginPortworxUnregister",
		"MemoryManager", "ServiceTrafficDistribution", "StructuredAuthorizationConfiguration", "TopologyAwareHints",
		"WatchFromStorageWithoutResourceVersion",
	}
	if !slices.Equal(names, want) {
		t.Errorf("removed: %v, want %v", names, want)
	}
}

func TestBrokenGates(t *testing.T) {
	for _, tc := range []struct {
		situation, minor string
		set              map[string]bool
		want             []string
	}{
		{"nothing is set", "1.36", nil, nil},
		{
			"a gate that two others require is disabled", "1.36",
			map[string]bool{"GracefulNodeShutdown": false},
			[]string{"GracefulNodeShutdownBasedOnPodPriority", "WindowsGracefulNodeShutdown"},
		},
		{"before releases checked it", "1.34", map[string]bool{"GracefulNodeShutdown": false}, nil},
		{"all beta gates are disabled", "1.36", map[string]bool{"AllBeta": false}, nil},
		{
			"all beta gates but one are disabled", "1.36",
			map[string]bool{"AllBeta": false, "WindowsGracefulNodeShutdown": true},
			[]string{"WindowsGracefulNodeShutdown"},
		},
		{"all alpha gates are enabled", "1.36", map[string]bool{"AllAlpha": true, "GangScheduling": false}, []string{"WorkloadAwarePreemption"}},
	} {
		var names []string
		for _, broken := range facts(t, tc.minor).BrokenGates(Kubelet, tc.set) {
			names = append(names, broken.Gate.Name)
			if len(broken.Disabled) == 0 {
				t.Errorf("%s: %s has no disabled requirement", tc.situation, broken.Gate.Name)
			}
		}
		if !slices.Equal(names, tc.want) {
			t.Errorf("%s: broken: %v, want %v", tc.situation, names, tc.want)
		}
	}
}

func TestGatesAreConsistent(t *testing.T) {
	for _, f := range allFacts(t) {
		for _, component := range Components() {
			seen := map[string]bool{}
			for _, gate := range f.Gates {
				if !gate.in(component) {
					continue
				}
				if seen[gate.Name] {
					t.Errorf("%s: %s has two entries of %s", f.Version, component, gate.Name)
				}
				seen[gate.Name] = true
				if !slices.Contains([]Stage{Alpha, Beta, GA, Deprecated}, gate.Stage) {
					t.Errorf("%s: %s is %q", f.Version, gate.Name, gate.Stage)
				}
				for _, required := range gate.Requires {
					if _, known := f.Gate(component, required); !known {
						t.Errorf("%s: %s requires %s, which %s does not have", f.Version, gate.Name, required, component)
					}
				}
			}
		}
	}
}

func TestRemovedGateOfKubeadm(t *testing.T) {
	for minor, want := range map[string]bool{"1.35": true, "1.36": false} {
		if _, known := facts(t, minor).Kubeadm.Gate("ControlPlaneKubeletLocalMode"); known != want {
			t.Errorf("%s has it: %t", minor, known)
		}
	}
	if gate, _ := facts(t, "1.36").Kubeadm.Gate("PublicKeysECDSA"); gate.Deprecated == "" {
		t.Error("PublicKeysECDSA of kubeadm has no deprecation message")
	}
}
