package policy

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

func TestDefaulted(t *testing.T) {
	spec := refitv1alpha1.ClusterUpgradeSpec{Pools: []refitv1alpha1.Pool{
		{Name: DefaultPool, Canary: &refitv1alpha1.Canary{}},
		{Name: "gpu", NodeSelector: refitv1alpha1.Labels{"pool": "gpu"}},
	}}
	got := Defaulted(spec)
	if len(got.Pools) != 2 || got.Pools[0].Name != "gpu" || got.Pools[1].Name != DefaultPool {
		t.Fatalf("pools: %v", got.Pools)
	}
	if spec.Pools[0].MaxUnavailable != nil {
		t.Error("the input was changed")
	}
	if got.Scope != refitv1alpha1.ScopeAll || got.Approval != refitv1alpha1.ApprovalRequired || got.Rollback != refitv1alpha1.RollbackAuto {
		t.Errorf("got %v, %v, %v", got.Scope, got.Approval, got.Rollback)
	}
	want := refitv1alpha1.Drain{
		When: refitv1alpha1.DrainMinorReleases, Timeout: metav1.Duration{Duration: 15 * time.Minute}, OnBlocked: refitv1alpha1.OnBlockedWait,
	}
	for _, pool := range got.Pools {
		if pool.Drain != want || pool.MaxUnavailable.IntValue() != 1 {
			t.Errorf("pool %s: %v, %v", pool.Name, pool.Drain, pool.MaxUnavailable)
		}
	}
	if c := got.Pools[1].Canary; c.Nodes != 1 || c.Soak.Duration != 10*time.Minute {
		t.Errorf("canary: %v", c)
	}
}

func TestMaxUnavailable(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "3": 3, "0": 1, "25%": 2, "5%": 1, "100%": 10, "nonsense": 1} {
		value := intstr.Parse(text)
		if got := MaxUnavailable(&refitv1alpha1.Pool{MaxUnavailable: &value}, 10); got != want {
			t.Errorf("%s of 10 nodes: %d, want %d", text, got, want)
		}
	}
}

func TestExclusion(t *testing.T) {
	worker := func(change func(*cluster.Node)) *cluster.Node {
		n := &cluster.Node{Name: "worker-1", OS: "linux", Ready: cluster.Yes, Labels: map[string]string{"wave": "now"}}
		change(n)
		return n
	}
	nothing := func(*cluster.Node) {}
	down := func(n *cluster.Node) { n.Ready = cluster.No }
	waiver := []refitv1alpha1.Waiver{{Check: CheckNodeNotReady, Object: "Node worker-1", Reason: "it is being repaired"}}
	tests := []struct {
		situation string
		spec      refitv1alpha1.ClusterUpgradeSpec
		node      *cluster.Node
		want      string
	}{
		{"a worker", refitv1alpha1.ClusterUpgradeSpec{}, worker(nothing), ""},
		{"the scope is ControlPlane", refitv1alpha1.ClusterUpgradeSpec{Scope: refitv1alpha1.ScopeControlPlane}, worker(nothing), "the scope is ControlPlane"},
		{
			"the scope is Workers",
			refitv1alpha1.ClusterUpgradeSpec{Scope: refitv1alpha1.ScopeWorkers},
			worker(func(n *cluster.Node) { n.ControlPlane = true }),
			"the scope is Workers",
		},
		{"it has the labels", refitv1alpha1.ClusterUpgradeSpec{NodeSelector: refitv1alpha1.Labels{"wave": "now"}}, worker(nothing), ""},
		{"it lacks a label", refitv1alpha1.ClusterUpgradeSpec{NodeSelector: refitv1alpha1.Labels{"wave": "later"}}, worker(nothing), "the node selector wave=later does not match"},
		{
			"a selector does not exclude the control plane",
			refitv1alpha1.ClusterUpgradeSpec{NodeSelector: refitv1alpha1.Labels{"wave": "later"}},
			worker(func(n *cluster.Node) { n.ControlPlane = true }), "",
		},
		{"Windows", refitv1alpha1.ClusterUpgradeSpec{}, worker(func(n *cluster.Node) { n.OS = "windows" }), "the operating system is windows, and Refit upgrades only Linux hosts"},
		{"it is not ready", refitv1alpha1.ClusterUpgradeSpec{}, worker(down), ""},
		{"it is not ready and waived", refitv1alpha1.ClusterUpgradeSpec{Waivers: waiver}, worker(down), "not ready, which is waived"},
		{"it is waived and ready again", refitv1alpha1.ClusterUpgradeSpec{Waivers: waiver}, worker(nothing), ""},
		{
			"a waiver of the whole check excludes no node",
			refitv1alpha1.ClusterUpgradeSpec{Waivers: []refitv1alpha1.Waiver{{Check: CheckNodeNotReady, Reason: "whatever"}}},
			worker(down), "",
		},
	}
	for _, test := range tests {
		t.Run(test.situation, func(t *testing.T) {
			if got := Exclusion(&test.spec, test.node); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReleaseFor(t *testing.T) {
	s := clustertest.HA("v1.34.4", 3, 1, clustertest.Released("v1.35.4", "v1.35.11", "v1.36.3", "v1.36.5", "v1.34.1"))
	s.Releases = append(s.Releases, cluster.Release{Name: "broken", Error: "its signature is wrong", Payload: refitv1alpha1.ReleasePayload{Kubernetes: "v1.35.12"}})
	from := skew.Version{Major: 1, Minor: 34, Patch: 4}
	tests := []struct {
		situation string
		version   skew.Version
		last      bool
		want      string
	}{
		{"in between, the newest usable one of the minor version", skew.Version{Major: 1, Minor: 35}, false, "kubernetes-v1.35.11"},
		{"at the end, exactly the target", skew.Version{Major: 1, Minor: 36, Patch: 3}, true, "kubernetes-v1.36.3"},
		{"at the end, nothing else", skew.Version{Major: 1, Minor: 36, Patch: 4}, true, ""},
		{"workers that catch up do not stay below the control plane", from, false, ""},
		{"a minor version without a ClusterRelease", skew.Version{Major: 1, Minor: 37}, false, ""},
	}
	for _, test := range tests {
		t.Run(test.situation, func(t *testing.T) {
			got := ""
			if r := ReleaseFor(s, &refitv1alpha1.ClusterUpgradeSpec{}, test.version, from, test.last); r != nil {
				got = r.Name
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
