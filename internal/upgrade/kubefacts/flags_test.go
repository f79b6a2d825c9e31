package kubefacts

import (
	"slices"
	"strings"
	"testing"
)

func TestRemovedFlagWasDeprecatedBefore(t *testing.T) {
	old, known := facts(t, "1.34").Flag(Kubelet, "pod-infra-container-image")
	if !known || !strings.Contains(old.Deprecated, "1.35") {
		t.Errorf("in 1.34 it is %+v", old)
	}
	for _, minor := range []string{"1.35", "1.36", "1.37"} {
		if facts(t, minor).HasFlag(Kubelet, "pod-infra-container-image") {
			t.Errorf("%s still accepts it", minor)
		}
	}
}

func TestSpellingsOfAFlag(t *testing.T) {
	f := facts(t, "1.36")
	for name, want := range map[string]bool{
		"node-ip": true, "--node-ip": true, "--node-ip=192.0.2.1": true, "--node_ip": true, "-v": true,
		"node-ips": false, "": false, "--": false, "Node-IP": false,
	} {
		if got := f.HasFlag(Kubelet, name); got != want {
			t.Errorf("HasFlag(%q) = %t", name, got)
		}
	}
}

func TestFlagBelongsToItsComponent(t *testing.T) {
	f := facts(t, "1.36")
	if !f.HasFlag(KubeAPIServer, "etcd-servers") || f.HasFlag(KubeScheduler, "etcd-servers") || f.HasFlag("etcd", "etcd-servers") {
		t.Error("--etcd-servers is a flag of kube-apiserver only")
	}
}

func TestRemovedFlags(t *testing.T) {
	for _, tc := range []struct {
		from, to, component string
		want                []string
	}{
		{"1.34", "1.35", Kubelet, []string{"pod-infra-container-image"}},
		{"1.34", "1.37", KubeControllerManager, []string{"concurrent-service-syncs"}},
		{"1.35", "1.36", Kubelet, nil},
		{"1.36", "1.37", KubeProxy, []string{"boot-id-file", "machine-id-file"}},
	} {
		var names []string
		for _, flag := range RemovedFlags(facts(t, tc.from), facts(t, tc.to), tc.component) {
			names = append(names, flag.Name)
		}
		if !slices.Equal(names, tc.want) {
			t.Errorf("%s, %s to %s: removed: %v, want %v", tc.component, tc.from, tc.to, names, tc.want)
		}
	}
}

func TestNothingIsRemovedWithinARelease(t *testing.T) {
	for _, f := range allFacts(t) {
		for _, component := range Components() {
			if removed := RemovedFlags(f, f, component); len(removed) > 0 {
				t.Errorf("%s: flags of %s: %v", f.Version, component, removed)
			}
			if removed := RemovedGates(f, f, component); len(removed) > 0 {
				t.Errorf("%s: gates of %s: %v", f.Version, component, removed)
			}
		}
		if removed := RemovedAPIs(f, f); len(removed) > 0 {
			t.Errorf("%s: APIs: %v", f.Version, removed)
		}
		if removed := RemovedAdmissionPlugins(f, f); len(removed) > 0 {
			t.Errorf("%s: plugins: %v", f.Version, removed)
		}
		if removed := RemovedFields(f.KubeletConfig, f.KubeletConfig); len(removed) > 0 {
			t.Errorf("%s: fields: %v", f.Version, removed)
		}
	}
}
