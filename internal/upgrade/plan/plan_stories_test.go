package plan

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

var update = flag.Bool("update", false, "write the golden files")

// planStory is a cluster and a request; its golden file is the plan.
type planStory struct {
	name    string // of the golden file
	summary string // the situation in a sentence
	cluster *cluster.Snapshot
	spec    refitv1alpha1.ClusterUpgradeSpec
}

func planStories() []planStory {
	shop := cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "cart"}
	return []planStory{
		{
			"ha-minor", "A healthy cluster of three control plane nodes and two workers is upgraded to the next minor version.",
			clustertest.HA("v1.35.4", 3, 2, released("v1.36.3", "3.6.8")), to("v1.36.3"),
		},
		{
			"single-node", "A cluster of one node: the node is not drained, and the API is unavailable for a while.",
			clustertest.Single("v1.35.4", released("v1.36.3", "3.6.8")), to("v1.36.3"),
		},
		{
			"manual-rollback", "A cluster of one node whose failure is not rolled back automatically.",
			clustertest.Single("v1.35.4", released("v1.36.3", "3.6.8")),
			refitv1alpha1.ClusterUpgradeSpec{
				Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}, Rollback: refitv1alpha1.RollbackManual,
			},
		},
		{
			"three-hops", "Three minor versions: the control plane is upgraded in three hops, the workers once.",
			clustertest.HA("v1.34.4", 3, 2, released("v1.35.4", "3.6.6"), released("v1.36.3", "3.6.8"), released("v1.37.1", "3.7.0")), to("v1.37.1"),
		},
		{
			"configuration-patches", "Both ClusterReleases set fields of the kubeadm configuration. One was edited by hand, and one is dropped.",
			clustertest.HA("v1.35.4", 3, 2, released("v1.36.3", "3.6.8"), released("v1.37.1", "3.7.0"), configurationPatches), to("v1.37.1"),
		},
		{
			"configuration-unapplied", "One control plane node runs the target already: nobody stores the patch of the ClusterRelease, and all nodes render what is stored.",
			clustertest.HA("v1.35.4", 3, 1, released("v1.36.3", "3.6.8"), configurationPatch, runs("cp-2", "v1.36.3")), to("v1.36.3"),
		},
		{
			"configuration-of-etcd", "A ClusterRelease sets an argument of etcd, and does not upgrade etcd.",
			clustertest.HA("v1.36.1", 3, 1, released("v1.36.3", ""), configurationPatch), to("v1.36.3"),
		},
		{
			"components-only-configuration", "Components are upgraded alone, also on an excluded node; the patch of the ClusterRelease is not applied.",
			clustertest.HA("v1.36.3", 1, 2, clustertest.Released("v1.36.3"), components, configurationPatch, labeled("worker-2", "wave", "now")),
			selecting(to("v1.36.3"), "wave", "now"),
		},
		{
			"backup", "Each hop relies on a backup of etcd that is tried before.",
			clustertest.HA("v1.35.4", 3, 2, clustertest.Agents(), released("v1.36.3", "3.6.8"), released("v1.37.1", "3.7.0")), backingUp(to("v1.37.1")),
		},
		{
			"components", "One component does not run on the next Kubernetes, one is upgraded after it, and one is installed. Their changes are known for the first hop.",
			clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3"), components), to("v1.36.3"),
		},
		{
			"components-only", "Kubernetes is at the target already, and components follow.",
			clustertest.HA("v1.36.3", 1, 1, clustertest.Released("v1.36.3"), components), to("v1.36.3"),
		},
		{
			"components-two-hops", "A component is upgraded before each of two hops.",
			clustertest.HA("v1.35.4", 1, 1, clustertest.Released("v1.36.3", "v1.37.1"), components), to("v1.37.1"),
		},
		{
			"backup-waived", "The user has waived the backup.",
			clustertest.HA("v1.35.4", 3, 2, clustertest.Agents(), released("v1.36.3", "3.6.8")), withoutBackup(to("v1.36.3")),
		},
		{
			"four-hops", "Four minor versions: the workers have to follow once in between.",
			clustertest.HA("v1.33.9", 3, 2, clustertest.Released("v1.34.4", "v1.35.4", "v1.36.3", "v1.37.1")), to("v1.37.1"),
		},
		{
			"catch-up", "Workers that are three minor versions behind catch up before the control plane is upgraded.",
			clustertest.HA("v1.36.3", 3, 2, clustertest.Released("v1.36.3", "v1.37.1"), workersAt("v1.33.9")), to("v1.37.1"),
		},
		{
			"patch", "A patch release: no node is drained.",
			clustertest.HA("v1.36.1", 3, 2, released("v1.36.3", "3.6.8")), to("v1.36.3"),
		},
		{
			"patch-drained", "A patch release in a pool that is drained for every release.",
			clustertest.HA("v1.36.1", 3, 2, clustertest.Released("v1.36.3")),
			with(to("v1.36.3"), refitv1alpha1.Pool{Name: policy.DefaultPool, Drain: refitv1alpha1.Drain{When: refitv1alpha1.DrainAllReleases}}),
		},
		{
			"no-release", "The cluster has no ClusterRelease yet: the plan can be read, but its hash will change.",
			clustertest.HA("v1.34.4", 3, 2), to("v1.36.3"),
		},
		{
			"newest-patch", "In between, the newest ClusterRelease of each minor version is used; at the end, exactly the target.",
			clustertest.HA("v1.34.4", 3, 2, clustertest.Released("v1.35.4", "v1.35.11", "v1.35.9", "v1.36.3", "v1.36.5")), to("v1.36.3"),
		},
		{
			"scope-control-plane", "The control plane is upgraded, and the workers stay.",
			clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3")), scoped(to("v1.36.3"), refitv1alpha1.ScopeControlPlane),
		},
		{
			"scope-workers", "The workers follow a control plane that was upgraded before.",
			clustertest.HA("v1.36.3", 3, 2, clustertest.Released("v1.36.3"), workersAt("v1.35.4")), scoped(to("v1.36.3"), refitv1alpha1.ScopeWorkers),
		},
		{
			"node-selector", "The control plane and the workers with a label are upgraded now, the others next month.",
			clustertest.HA("v1.35.4", 3, 3, clustertest.Released("v1.36.3"), labeled("worker-2", "wave", "now")), selecting(to("v1.36.3"), "wave", "now"),
		},
		{
			"pools", "Pools with a canary, a percentage and zones.",
			clustertest.HA("v1.35.4", 3, 12, clustertest.Released("v1.36.3"), labeled("worker-11", "pool", "gpu"), labeled("worker-12", "pool", "gpu")),
			with(to("v1.36.3"),
				refitv1alpha1.Pool{
					Name: "gpu", NodeSelector: refitv1alpha1.Labels{"pool": "gpu"},
					Drain: refitv1alpha1.Drain{Timeout: metav1.Duration{Duration: time.Hour}, OnBlocked: refitv1alpha1.OnBlockedSkip},
				},
				refitv1alpha1.Pool{Name: policy.DefaultPool, MaxUnavailable: share("25%"), Canary: &refitv1alpha1.Canary{}}),
		},
		{
			"cordoned", "A worker that the user has cordoned is first in its zone, and stays cordoned.",
			clustertest.HA("v1.35.4", 3, 6, clustertest.Released("v1.36.3"), clustertest.OnNode("worker-4", func(n *cluster.Node) { n.Unschedulable = true })),
			to("v1.36.3"),
		},
		{
			"not-ready-waived", "A worker that is not ready is waived.",
			clustertest.HA("v1.35.4", 3, 3, clustertest.Released("v1.36.3"), clustertest.OnNode("worker-2", func(n *cluster.Node) { n.Ready = cluster.No })),
			waiving(to("v1.36.3"), "NodeNotReady", "Node worker-2"),
		},
		{
			"two-members", "Two control plane nodes: etcd is unavailable twice.",
			clustertest.HA("v1.35.4", 2, 1, clustertest.Released("v1.36.3")), waiving(to("v1.36.3"), "EtcdTwoMembers", ""),
		},
		{
			"external-etcd", "etcd is external.",
			clustertest.HA("v1.35.4", 3, 1, clustertest.Released("v1.36.3"), externalEtcd), to("v1.36.3"),
		},
		{
			"etcd-newer", "The running etcd is newer than that of the ClusterRelease: it stays.",
			clustertest.HA("v1.35.4", 3, 1, released("v1.36.3", "3.6.4")), to("v1.36.3"),
		},
		{
			"shared-budget", "Nodes whose pods share a budget that allows one disruption are kept apart.",
			clustertest.HA("v1.35.4", 3, 6, clustertest.Released("v1.36.3"),
				clustertest.Pods(shop, map[string]int32{"worker-1": 2, "worker-2": 1, "worker-4": 1, "worker-5": 1}), clustertest.Budget("shop", "cart", 1, "cart")),
			with(to("v1.36.3"), refitv1alpha1.Pool{Name: policy.DefaultPool, MaxUnavailable: share("50%")}),
		},
		{
			"observed-times", "Estimates follow from earlier upgrades of the nodes.",
			clustertest.HA("v1.35.4", 3, 4, clustertest.Released("v1.36.3"), clustertest.OnEveryNode(upgradedBefore)), to("v1.36.3"),
		},
		{
			"partly-upgraded-by-hand", "One control plane node was upgraded by hand: the plan starts where the others are.",
			clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3"), upgradedByHand("cp-2", "v1.36.3")), to("v1.36.3"),
		},
		{
			"windows", "A Windows node is excluded.",
			clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3"), clustertest.OnNode("worker-2", func(n *cluster.Node) { n.OS = "windows" })),
			to("v1.36.3"),
		},
	}
}

func TestPlansAsStories(t *testing.T) {
	for _, story := range planStories() {
		t.Run(story.name, func(t *testing.T) {
			p, err := Make(story.cluster, story.spec)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("plans", story.name), story.summary+"\n\n"+planText(p))
		})
	}
}

func TestUnreachableTargets(t *testing.T) {
	tests := []struct {
		situation string
		cluster   *cluster.Snapshot
		spec      refitv1alpha1.ClusterUpgradeSpec
		want      string
	}{
		{"an older version", clustertest.HA("v1.36.3", 3, 2), to("v1.35.4"), "the control plane runs v1.36.3, and Kubernetes does not support a downgrade to v1.35.4"},
		{"an invalid version", clustertest.HA("v1.36.3", 3, 2), to("1.36"), `invalid version "1.36": it must be like v1.36.3`},
		{"no target", clustertest.HA("v1.36.3", 3, 2), to(""), "no target: set a version such as v1.36.3, or a ClusterRelease"},
		{
			"a ClusterRelease that does not exist", clustertest.HA("v1.35.4", 3, 2),
			refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Release: "spring"}},
			"ClusterRelease spring not found",
		},
		{
			"workers newer than their control plane", clustertest.HA("v1.35.4", 3, 2), scoped(to("v1.36.3"), refitv1alpha1.ScopeWorkers),
			"workers at v1.36.3 are not supported with a control plane at v1.35.4: they may be at most 3 minor versions older, and never newer",
		},
		{
			"a cluster without a known version", &cluster.Snapshot{Nodes: []cluster.Node{{Name: "cp-1", ControlPlane: true}}}, to("v1.36.3"),
			"the version of the control plane is unknown: no API server reports one",
		},
	}
	for _, test := range tests {
		t.Run(test.situation, func(t *testing.T) {
			p, err := Make(test.cluster, test.spec)
			if err == nil || err.Error() != test.want {
				t.Errorf("got plan %v and error %v, want %q", p, err, test.want)
			}
		})
	}
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; review it, then run with -update\n%s", path, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			expected := "(nothing)"
			if i < len(w) {
				expected = w[i]
			}
			return "got:  " + g[i] + "\nwant: " + expected
		}
	}
	return "the end is missing"
}

func to(version string) refitv1alpha1.ClusterUpgradeSpec {
	return refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: version}}
}

func with(spec refitv1alpha1.ClusterUpgradeSpec, pools ...refitv1alpha1.Pool) refitv1alpha1.ClusterUpgradeSpec {
	spec.Pools = pools
	return spec
}

func scoped(spec refitv1alpha1.ClusterUpgradeSpec, scope refitv1alpha1.Scope) refitv1alpha1.ClusterUpgradeSpec {
	spec.Scope = scope
	return spec
}

func selecting(spec refitv1alpha1.ClusterUpgradeSpec, key, value string) refitv1alpha1.ClusterUpgradeSpec {
	spec.NodeSelector = refitv1alpha1.Labels{key: value}
	return spec
}

func waiving(spec refitv1alpha1.ClusterUpgradeSpec, check, object string) refitv1alpha1.ClusterUpgradeSpec {
	spec.Waivers = append(spec.Waivers, refitv1alpha1.Waiver{Check: check, Object: object, Reason: "the test says so"})
	return spec
}

func share(text string) *intstr.IntOrString {
	out := intstr.Parse(text)
	return &out
}

func released(version, etcd string) clustertest.Change {
	return func(s *cluster.Snapshot) {
		clustertest.Released(version)(s)
		s.Releases[len(s.Releases)-1].Payload.Etcd = etcd
	}
}

func workersAt(version string) clustertest.Change {
	return clustertest.OnEveryNode(func(n *cluster.Node) {
		if !n.ControlPlane {
			n.Kubelet = version
		}
	})
}

func labeled(node, key, value string) clustertest.Change {
	return clustertest.OnNode(node, func(n *cluster.Node) { n.Labels[key] = value })
}

func externalEtcd(s *cluster.Snapshot) {
	s.Kubeadm.ExternalEtcd = true
	clustertest.OnEveryNode(func(n *cluster.Node) { delete(n.Static, "etcd") })(s)
}

func upgradedByHand(node, version string) clustertest.Change {
	return func(s *cluster.Snapshot) {
		s.Node(node).Kubelet = version
		s.APIServer(node).Version = version
	}
}

func upgradedBefore(n *cluster.Node) {
	started := metav1.NewTime(clustertest.Now.Add(-24 * time.Hour))
	drained, finished := metav1.NewTime(started.Add(40*time.Second)), metav1.NewTime(started.Add(3*time.Minute))
	n.Upgrade = &cluster.Upgrade{Status: refitv1alpha1.NodeUpgradeStatus{
		Phase: refitv1alpha1.NodeSucceeded, StartTime: &started, CompletionTime: &finished,
		Drain: &refitv1alpha1.DrainStatus{Phase: refitv1alpha1.DrainDrained, StartTime: &started, CompletionTime: &drained},
	}}
}

func backingUp(spec refitv1alpha1.ClusterUpgradeSpec) refitv1alpha1.ClusterUpgradeSpec {
	spec.Backup = &refitv1alpha1.UpgradeBackup{}
	return spec
}

func withoutBackup(spec refitv1alpha1.ClusterUpgradeSpec) refitv1alpha1.ClusterUpgradeSpec {
	spec = backingUp(spec)
	waiveBackup(&spec)
	return spec
}

func restoring(spec refitv1alpha1.ClusterUpgradeSpec) refitv1alpha1.ClusterUpgradeSpec {
	spec.Backup = &refitv1alpha1.UpgradeBackup{Drill: refitv1alpha1.DrillRestore}
	return spec
}

// configurationPatch sets arguments of the API server and of etcd in the ClusterRelease.
func configurationPatch(s *cluster.Snapshot) {
	args := func(name, value string) *refitv1alpha1.ControlPlaneComponentPatch {
		return &refitv1alpha1.ControlPlaneComponentPatch{ExtraArgs: []refitv1alpha1.ReleaseArgument{{Name: name, Value: value}}}
	}
	s.Releases[0].Payload.ClusterConfiguration = &refitv1alpha1.ClusterConfigurationPatch{
		APIServer: args("goaway-chance", "0.001"), Etcd: &refitv1alpha1.EtcdPatch{Local: args("quota-backend-bytes", "8589934592")},
	}
}

// runs sets the version of a control plane node.
func runs(name, version string) clustertest.Change {
	return func(s *cluster.Snapshot) {
		clustertest.OnNode(name, func(n *cluster.Node) { n.Kubelet = version })(s)
		s.APIServer(name).Version = version
	}
}

// configurationPatches is a cluster whose ClusterReleases set fields of the kubeadm configuration.
func configurationPatches(s *cluster.Snapshot) {
	args := func(args ...refitv1alpha1.ReleaseArgument) *refitv1alpha1.ControlPlaneComponentPatch {
		return &refitv1alpha1.ControlPlaneComponentPatch{ExtraArgs: args}
	}
	age := refitv1alpha1.ReleaseArgument{Name: "audit-log-maxage", Value: "10"}
	s.Kubeadm.Configured = configpatch.Values{"apiServer.extraArgs.audit-log-maxage": {""}, "scheduler.extraArgs.kube-api-qps": {"100"}}
	s.Kubeadm.Patched = configpatch.Values{"scheduler.extraArgs.kube-api-qps": {"100"}}
	s.Releases[0].Payload.ClusterConfiguration = &refitv1alpha1.ClusterConfigurationPatch{
		APIServer: args(refitv1alpha1.ReleaseArgument{Name: "goaway-chance", Value: "0.001"}, age), FeatureGates: map[string]bool{"NodeLocalCRISocket": true},
	}
	s.Releases[1].Payload.ClusterConfiguration = &refitv1alpha1.ClusterConfigurationPatch{
		APIServer: args(refitv1alpha1.ReleaseArgument{Name: "goaway-chance", Value: "0.002"}, age),
	}
}
