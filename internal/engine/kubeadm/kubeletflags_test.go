package kubeadm

import (
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

func factsFor(t *testing.T, minor string) *kubefacts.Facts {
	t.Helper()
	facts, known := kubefacts.For(minor)
	if !known {
		t.Fatalf("no facts about %s", minor)
	}
	return facts
}

func reasons(found []KubeletFinding, fatal bool) []string {
	var reasons []string
	for _, f := range found {
		if f.Fatal == fatal {
			reasons = append(reasons, f.Reason)
		}
	}
	return reasons
}

func TestNewKubeletRefusesARemovedFlag(t *testing.T) {
	args := []string{"--config=/nowhere.yaml", "--node-ip=10.0.0.1", "--pod-infra-container-image=pause:3.10"}
	for minor, accepted := range map[string]bool{"v1.34": true, "v1.36": false} {
		t.Run(minor, func(t *testing.T) {
			found := CheckKubelet(t.Context(), program(t, "kubelet", minor), args, nil, factsFor(t, minor))
			if accepted != (len(found) == 0) {
				t.Fatalf("got %v", found)
			}
			if !accepted && (found[0].Reason != "KubeletFlagRefused" || !strings.Contains(found[0].Message, "--pod-infra-container-image")) {
				t.Errorf("got %+v", found[0].Failure)
			}
		})
	}
}

func TestUnsupportedKubeletSettingsAreFound(t *testing.T) {
	fine, _ := pretend(t, "")
	facts := factsFor(t, "1.36")
	var locked kubefacts.Gate
	for _, gate := range facts.Gates {
		if _, known := facts.Gate(kubefacts.Kubelet, gate.Name); known && gate.Locked {
			locked = gate
		}
	}
	other := map[bool]string{true: "false", false: "true"}[locked.Default]
	for _, c := range []struct {
		name, config string
		args         []string
		want         string
	}{
		{"nothing", "failSwapOn: false\nfeatureGates: {AllBeta: true}", nil, ""},
		{"an unknown gate", "featureGates: {NoSuchGate: true}", nil, "KubeletGateUnknown"},
		{"a locked gate", "featureGates: {" + locked.Name + ": " + other + "}", nil, "KubeletGateLocked"},
		{"a gate by flag", "", []string{"--feature-gates=NoSuchGate=true,AllAlpha=false"}, "KubeletGateUnknown"},
		{"a gate by flag in two words", "", []string{"--feature-gates", "NoSuchGate=true"}, "KubeletGateUnknown"},
		{"a flag overrides the file", "featureGates: {" + locked.Name + ": " + other + "}", []string{"--feature-gates=" + locked.Name + "=" + map[bool]string{true: "true", false: "false"}[locked.Default]}, ""},
		{"an invalid gate", "featureGates: {AllAlpha: maybe}", nil, "KubeletGateBroken"},
		{"no configuration", "{", nil, "KubeletConfigBroken"},
	} {
		got := reasons(CheckKubelet(t.Context(), fine, c.args, []byte(c.config), facts), true)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	found := CheckKubelet(t.Context(), fine, nil, []byte("noSuchField: 1"), facts)
	if got := reasons(found, false); !slices.Equal(got, []string{"KubeletFieldUnknown"}) {
		t.Errorf("got %q", got)
	}
	if got := reasons(CheckKubelet(t.Context(), "/nowhere", nil, nil, facts), true); !slices.Equal(got, []string{"KubeletBroken"}) {
		t.Errorf("got %q", got)
	}
}

func TestOnlyFlagsOfKubeadmAreRemoved(t *testing.T) {
	for _, c := range []struct{ name, minor, env, want, removed string }{
		{
			"1.36 has removed the flag", "1.36", "KUBELET_KUBEADM_ARGS=\"--node-ip=10.0.0.1 --pod-infra-container-image=pause:3.10 --v=2\"\n",
			"KUBELET_KUBEADM_ARGS=\"--node-ip=10.0.0.1 --v=2\"\n", "pod-infra-container-image",
		},
		{"in two words", "1.36", "KUBELET_KUBEADM_ARGS=\"--pod-infra-container-image pause:3.10 --v=2\"", "KUBELET_KUBEADM_ARGS=\"--v=2\"", "pod-infra-container-image"},
		{"1.34 still accepts it", "1.34", "KUBELET_KUBEADM_ARGS=\"--pod-infra-container-image=pause:3.10\"\n", "KUBELET_KUBEADM_ARGS=\"--pod-infra-container-image=pause:3.10\"\n", ""},
		{"a flag of the user stays, for the check to find", "1.36", "KUBELET_KUBEADM_ARGS=\"--no-such-flag=1\"\n", "KUBELET_KUBEADM_ARGS=\"--no-such-flag=1\"\n", ""},
		{"other lines stay", "1.36", "# mine\nA='1 2'\nKUBELET_KUBEADM_ARGS=--pod-infra-container-image=x\nB=2\n", "# mine\nA='1 2'\nKUBELET_KUBEADM_ARGS=\"\"\nB=2\n", "pod-infra-container-image"},
		{"empty", "1.36", "", "", ""},
	} {
		got, removed := StripRemovedFlags([]byte(c.env), factsFor(t, c.minor))
		if string(got) != c.want || strings.Join(removed, " ") != c.removed {
			t.Errorf("%s: got %q, %v", c.name, got, removed)
		}
	}
}
