package preflight

import (
	"fmt"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// usual is a typical cluster: metrics with one replica and an emptyDir, a CNI, an ingress with its
// own webhook, and old stored versions.
func usual() change {
	return all(
		clustertest.Pods(cluster.Workload{Namespace: "kube-system", Kind: "Deployment", Name: "metrics-server", LocalData: true}, map[string]int32{"worker-1": 1}),
		clustertest.Pods(cluster.Workload{Namespace: "kube-system", Kind: "DaemonSet", Name: "cilium", LocalVolume: true}, onBoth),
		func(s *snapshot) {
			s.APIs = []cluster.APIGroup{{Name: "v1beta1.metrics.k8s.io", Available: cluster.Yes}}
			s.Webhooks = []cluster.Webhook{{
				Configuration: "ingress-nginx-admission", Name: "validate.nginx.ingress.kubernetes.io", FailClosed: true, Equivalent: true,
				Resources: []string{"networking.k8s.io/ingresses"}, Reaches: []string{"kube-system"},
				Backend: &cluster.Backend{Namespace: "ingress-nginx", Service: "controller", Found: cluster.Yes, Ready: 1, Nodes: []string{"worker-1"}},
			}}
			s.CRDs = []cluster.CRD{{
				Name: "certificates.cert-manager.io", Versions: []string{"v1alpha2", "v1"}, Served: []string{"v1alpha2", "v1"}, Storage: "v1",
				StoredVersions: []string{"v1alpha2", "v1"}, Established: cluster.Yes,
			}}
		},
	)
}

// unansweredWithoutAgents is the number of checks without a complete answer in a healthy cluster
// without agents.
const unansweredWithoutAgents = 35

func TestHealthyClusters(t *testing.T) {
	for _, c := range []struct {
		name  string
		c     situation
		infos int
	}{
		{name: "with agents"},
		{name: "without agents", c: situation{bare: true}},
		{name: "with what most clusters have", c: situation{change: usual()}, infos: 3},
		{name: "with what most clusters have, without agents", c: situation{change: usual(), bare: true}, infos: 3},
		{name: "of one node", c: situation{single: true}, infos: 1},
		{name: "over two minor versions", c: situation{to: "v1.37.1"}},
		{name: "to a patch", c: situation{to: "v1.35.9"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := Run(c.c.input(t))
			deferred, unanswered := 0, 0
			if c.c.bare {
				deferred, unanswered = 1, unansweredWithoutAgents
			}
			got := report.Summary
			want := Summary{Checks: len(checks) - unanswered, Unanswered: unanswered, Deferred: deferred, Unknown: deferred, Infos: c.infos}
			if got != want || report.Blocked() {
				t.Errorf("got %+v, want %+v\n%s", got, want, (&situation{}).narrative(report.Findings))
			}
		})
	}
}

func TestClusterWithoutRefitHasNothingThatBlocks(t *testing.T) {
	c := situation{bare: true, change: func(s *snapshot) {
		s.Installed, s.Releases = false, nil
		for _, part := range []cluster.Part{cluster.PartReleases, cluster.PartReports, cluster.PartUpgrades} {
			clustertest.Unread(part, cluster.GapAbsent)(s)
		}
	}}
	report := Run(c.input(t))
	if want := (Summary{Checks: len(checks) - unansweredWithoutAgents, Unanswered: unansweredWithoutAgents, Deferred: 2, Unknown: 1}); report.Summary != want {
		t.Errorf("got %+v, want %+v\n%s", report.Summary, want, (&situation{}).narrative(report.Findings))
	}
}

func waivers(list ...refitv1alpha1.Waiver) func(*refitv1alpha1.ClusterUpgradeSpec) {
	return func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Waivers = list }
}

func TestWaivers(t *testing.T) {
	const reason = "approved by the shop team"
	one := refitv1alpha1.Waiver{Check: "BudgetNeverAllows", Object: "PodDisruptionBudget shop/cart", Reason: reason}
	every := refitv1alpha1.Waiver{Check: "BudgetNeverAllows", Reason: reason}
	two := all(cart(0), pods("Deployment", "web", onBoth), clustertest.Budget("shop", "web", 0, "web"))
	for _, c := range []struct {
		name    string
		waivers []refitv1alpha1.Waiver
		want    Summary
	}{
		{"none", nil, Summary{Blocks: 2}},
		{"one object", []refitv1alpha1.Waiver{one}, Summary{Blocks: 1, Waived: 1}},
		{"every object", []refitv1alpha1.Waiver{every}, Summary{Waived: 2}},
		{"every object, with a duplicate", []refitv1alpha1.Waiver{every, one}, Summary{Waived: 2}},
		{"no matching finding", []refitv1alpha1.Waiver{{Check: "EtcdAlarm", Reason: reason}}, Summary{Blocks: 2, Warns: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := situation{change: two, spec: waivers(c.waivers...)}
			report := Run(at.input(t))
			c.want.Checks = len(checks)
			if report.Summary != c.want {
				t.Errorf("got %+v, want %+v\n%s", report.Summary, c.want, at.narrative(report.Findings))
			}
			for _, f := range report.Findings {
				if f.Waived != nil && (f.Waived.Reason != reason || f.Blocks()) {
					t.Errorf("the waiver is not recorded unchanged: %+v", f)
				}
			}
		})
	}
}

func TestBindingFindingBlocksThoughWaived(t *testing.T) {
	c := situation{change: func(s *snapshot) { s.Releases = nil }, spec: waiver("ReleaseMissing", "")}
	report := Run(c.input(t))
	if !report.Blocked() || report.Findings[0].Check != "ReleaseMissing" || report.Findings[0].Waived != nil {
		t.Errorf("got %s", c.narrative(report.Findings))
	}
}

// manyNotReady is a large cluster with only unready workers.
func manyNotReady(tb testing.TB, workers int, spec func(*refitv1alpha1.ClusterUpgradeSpec)) Input {
	tb.Helper()
	s := clustertest.HA("v1.35.4", 3, workers, clustertest.Released("v1.36.3"), func(s *snapshot) {
		for i := range s.Nodes {
			if !s.Nodes[i].ControlPlane {
				s.Nodes[i].Ready = cluster.No
			}
		}
	})
	in := Input{Snapshot: s, Spec: refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}}, Now: clustertest.Now}
	if spec != nil {
		spec(&in.Spec)
	}
	in.Path = pathOf(tb, s, in.Spec.Scope, "v1.36.3")
	return in
}

func TestReportContainsEveryFinding(t *testing.T) {
	report := Run(manyNotReady(t, 5000, nil))
	found := slices.DeleteFunc(report.Findings, func(f Finding) bool { return f.Check != "NodeNotReady" })
	if len(found) != 5000 || report.Summary.Blocks != 5000 {
		t.Fatalf("%d findings and %d blocks", len(found), report.Summary.Blocks)
	}
	const want = "worker-1015 has not been ready for 30 days; pool default allows 1 node to be unavailable and already has 5,000, so no other node can start"
	if got := found[19]; got.Message != want {
		t.Errorf("got  %s\nwant %s", got.Message, want)
	}
}

func TestWaiverOfOneAmongMany(t *testing.T) {
	report := Run(manyNotReady(t, 100, waiver("NodeNotReady", "Node worker-99")))
	at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Object == "Node worker-99" })
	if at < 0 || report.Findings[at].Waived == nil || report.Summary.Blocks != 99 || report.Summary.Waived != 1 {
		t.Errorf("got %+v", report.Summary)
	}
}

func TestOrder(t *testing.T) {
	untidy := func() situation {
		return situation{bare: true, spec: waiver("UnmanagedPod", ""), change: all(
			cart(0), pods("Pod", "debug", onBoth),
			onNode("worker-2", func(n *cluster.Node) { n.OS = "windows" }), onNode("worker-1", func(n *cluster.Node) { n.OS = "windows" }),
			onNode("cp-1", func(n *cluster.Node) { n.Ready = cluster.No }),
			pods("Deployment", "single", map[string]int32{"cp-2": 1}), clustertest.Budget("shop", "single", 0, "single"),
			actor("Flux", "Deployment flux-system/flux", cluster.Yes), clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Pod", Name: "x"}, map[string]int32{"cp-1": 1}),
		)}
	}
	var got []string
	c := untidy()
	for _, f := range Run(c.input(t)).Findings {
		got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.Check, f.Object))
	}
	want := []string{
		"Block ControlPlaneNodeNotReady Node cp-1",
		"Block BudgetNeverAllows PodDisruptionBudget shop/single",
		"Block AgentMissing ",
		"Block UnmanagedPod Pod shop/x",
		"Warn WindowsNode Node worker-1",
		"Warn WindowsNode Node worker-2",
		"Info SingleReplica ",
		"Info GitOpsActive Deployment flux-system/flux",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	for range 20 {
		var again []string
		c := untidy()
		for _, f := range Run(c.input(t)).Findings {
			again = append(again, fmt.Sprintf("%s %s %s", f.Severity, f.Check, f.Object))
		}
		if !slices.Equal(again, got) {
			t.Fatalf("the order differs: %q", again)
		}
	}
}

func TestEmptyInputBlocks(t *testing.T) {
	report := Run(Input{})
	if !report.Blocked() {
		t.Errorf("an unknown cluster may be upgraded: %+v", report.Findings)
	}
}

func BenchmarkRun(b *testing.B) {
	s := clustertest.Synthetic(5000, 150_000, 1)
	clustertest.Agents()(s)
	in := Input{Snapshot: s, Spec: refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}}, Now: clustertest.Now}
	twoAtOnce(&in.Spec)
	in.Path = pathOf(b, s, "", "v1.36.3")
	b.ReportAllocs()
	for b.Loop() {
		Run(in)
	}
}
