package kubefacts

import (
	"slices"
	"testing"
)

func TestGateSetByAUser(t *testing.T) {
	for _, tc := range []struct {
		situation, minor, gate string
		value                  bool
		want                   GateAnswer
	}{
		{"a gate that nobody knows", "1.36", "NoSuchGate", true, GateUnknown},
		{"a gate in another case", "1.36", "imagevolume", true, GateUnknown},
		{"before it was removed", "1.35", "MemoryManager", true, GateAccepted},
		{"after it was removed", "1.36", "MemoryManager", true, GateUnknown},
		{"turned off before it was locked on", "1.35", "ImageVolume", false, GateAccepted},
		{"turned off after it was locked on", "1.36", "ImageVolume", false, GateLocked},
		{"turned on although it is locked on", "1.36", "ImageVolume", true, GateAccepted},
		{"turned on after it was locked off", "1.36", "GitRepoVolumeDriver", true, GateLocked},
		{"all of a stage", "1.36", "AllBeta", false, GateAccepted},
	} {
		for _, component := range Components() {
			if got := facts(t, tc.minor).SetGate(component, tc.gate, tc.value); got != tc.want {
				t.Errorf("%s: %s of %s %s set to %t is %s, want %s", tc.situation, tc.gate, component, tc.minor, tc.value, got, tc.want)
			}
		}
	}
}

func TestGateThatOneComponentDoesNotKnow(t *testing.T) {
	const gate = "ControllerManagerReleaseLeaderElectionLockOnExit"
	f := facts(t, "1.36")
	for component, want := range map[string]bool{KubeControllerManager: true, KubeScheduler: false, "etcd": false} {
		if _, known := f.Gate(component, gate); known != want {
			t.Errorf("%s knows it: %t", component, known)
		}
	}
}

func TestGatesRemovedBetweenTwoMinors(t *testing.T) {
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
		t.Errorf("removed are %v, want %v", names, want)
	}
}

func TestGateThatIsOnWithoutWhatItRequires(t *testing.T) {
	for _, tc := range []struct {
		situation, minor string
		set              map[string]bool
		want             []string
	}{
		{"nothing is set", "1.36", nil, nil},
		{
			"what two gates require is off", "1.36",
			map[string]bool{"GracefulNodeShutdown": false},
			[]string{"GracefulNodeShutdownBasedOnPodPriority", "WindowsGracefulNodeShutdown"},
		},
		{"before releases looked at it", "1.34", map[string]bool{"GracefulNodeShutdown": false}, nil},
		{"all of them are off", "1.36", map[string]bool{"AllBeta": false}, nil},
		{
			"all betas are off but one", "1.36",
			map[string]bool{"AllBeta": false, "WindowsGracefulNodeShutdown": true},
			[]string{"WindowsGracefulNodeShutdown"},
		},
		{"all alphas are on", "1.36", map[string]bool{"AllAlpha": true, "GangScheduling": false}, []string{"WorkloadAwarePreemption"}},
	} {
		var names []string
		for _, broken := range facts(t, tc.minor).BrokenGates(Kubelet, tc.set) {
			names = append(names, broken.Gate.Name)
			if len(broken.Disabled) == 0 {
				t.Errorf("%s: %s is broken without a reason", tc.situation, broken.Gate.Name)
			}
		}
		if !slices.Equal(names, tc.want) {
			t.Errorf("%s: broken are %v, want %v", tc.situation, names, tc.want)
		}
	}
}

func TestEveryGateIsOfOneStageInEachComponent(t *testing.T) {
	for _, f := range every(t) {
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
						t.Errorf("%s: %s requires %s, which %s does not know", f.Version, gate.Name, required, component)
					}
				}
			}
		}
	}
}

func TestGateOfKubeadmThatIsGone(t *testing.T) {
	for minor, want := range map[string]bool{"1.35": true, "1.36": false} {
		if _, known := facts(t, minor).Kubeadm.Gate("ControlPlaneKubeletLocalMode"); known != want {
			t.Errorf("%s knows it: %t", minor, known)
		}
	}
	if gate, _ := facts(t, "1.36").Kubeadm.Gate("PublicKeysECDSA"); gate.Deprecated == "" {
		t.Error("kubeadm says why PublicKeysECDSA is deprecated")
	}
}
