package text_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// situation is a cluster and a request. The checks and the planner assess it as the commands do, so
// that the documentation shows nothing that Refit does not print.
type situation struct {
	name       string
	snapshot   func() *cluster.Snapshot
	spec       refitv1alpha1.ClusterUpgradeSpec
	everyWidth bool
	components bool // alone
}

func to(version string) refitv1alpha1.ClusterUpgradeSpec {
	return refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: version}}
}

// reports caches reports: planning a large cluster takes long.
var reports = map[string]*cliv1alpha1.Report{}

// report is the result of `refit plan`, or of `refit check` without a plan. It is shared and must
// not be changed.
func (s *situation) report(t *testing.T, withPlan bool) *cliv1alpha1.Report {
	t.Helper()
	if reports[s.name] == nil {
		reports[s.name] = s.make(t)
	}
	if withPlan {
		return reports[s.name]
	}
	check := *reports[s.name]
	check.Kind, check.Plan = cliv1alpha1.KindCheck, nil
	return &check
}

func (s *situation) make(t *testing.T) *cliv1alpha1.Report {
	t.Helper()
	snapshot := s.snapshot()
	assessed, err := assess.Preview(assess.Request{Snapshot: snapshot, Spec: s.spec, Now: clustertest.Now, Purpose: assess.ForPlan})
	if err != nil {
		t.Fatal(err)
	}
	return progress.NewReport(progress.Facts{
		Name: "prod", Snapshot: snapshot, From: assessed.Path.From.String(), To: assessed.Path.To.String(), Scope: policy.Defaulted(s.spec).Scope,
		Findings: *assessed.Checks, Plan: assessed.Plan, Components: s.components,
	})
}

func (s *situation) next(command string) text.Next {
	line := " --to " + s.spec.Target.Kubernetes
	if s.components {
		line = " --components"
	}
	return text.Next{Again: "refit " + command + line, Plan: "refit plan" + line, Upgrade: "refit upgrade" + line}
}

func find(t *testing.T, name string) *situation {
	t.Helper()
	for _, s := range situations() {
		if s.name == name {
			return &s
		}
	}
	t.Fatalf("there is no situation %q", name)
	return nil
}

func scoped(scope refitv1alpha1.Scope) refitv1alpha1.ClusterUpgradeSpec {
	spec := to("v1.36.3")
	spec.Scope = scope
	return spec
}

func twoMembers() *cluster.Snapshot {
	return read(clustertest.HA("v1.35.4", 2, 2, clustertest.Released("v1.36.3"), clustertest.Agents()))
}

func situations() []situation {
	return []situation{
		{name: "ha", everyWidth: true, snapshot: shop, spec: to("v1.36.3")},
		{name: "blocked", everyWidth: true, snapshot: troubled, spec: waiveCordon()},
		{name: "installed", snapshot: withAgents(shop), spec: to("v1.36.3")},
		{name: "hops", snapshot: ha("v1.34.2", "v1.35.7", "v1.36.3", "v1.37.0"), spec: to("v1.37.0")},
		{name: "no-releases", snapshot: ha("v1.34.2"), spec: to("v1.36.3")},
		{name: "single", snapshot: func() *cluster.Snapshot { return read(clustertest.Single("v1.35.4", clustertest.Released("v1.36.3"))) }, spec: to("v1.36.3")},
		{name: "patch", snapshot: ha("v1.36.1", "v1.36.3"), spec: to("v1.36.3")},
		{name: "done", snapshot: ha("v1.36.3", "v1.36.3"), spec: to("v1.36.3")},
		{name: "done-unreleased", snapshot: withAgents(ha("v1.36.3")), spec: scoped(refitv1alpha1.ScopeWorkers)},
		{name: "components", snapshot: withComponents, spec: to("v1.36.3")},
		{name: "components-only", snapshot: componentsOnly, spec: to("v1.36.3"), components: true},
		{name: "components-done", snapshot: componentsDone, spec: to("v1.36.3"), components: true},
		{name: "two-members", snapshot: twoMembers, spec: to("v1.36.3")},
		{name: "workers", snapshot: behind, spec: someWorkers()},
		{name: "large", everyWidth: true, snapshot: large, spec: pools()},
	}
}

// withComponents is a cluster with a component that has to be upgraded before the control plane,
// and one that is upgraded after it.
func withComponents() *cluster.Snapshot { return componentsOn("v1.35.4") }

// componentsOnly is a cluster whose Kubernetes is at the target, and its components are not.
func componentsOnly() *cluster.Snapshot {
	s := componentsOn("v1.36.3")
	s.Components[0].Status.Offers[0].Kubernetes = "v1.36.3"
	return s
}

// componentsDone is a cluster whose components are at the target, too.
func componentsDone() *cluster.Snapshot {
	s := componentsOnly()
	for i := range s.Components {
		status := &s.Components[i].Status
		status.Installed.Version, status.Offers = status.Offers[0].Version, nil
	}
	return s
}

func componentsOn(kubernetes string) *cluster.Snapshot {
	s := withAgents(ha(kubernetes, "v1.36.3"))()
	release := &s.Releases[0]
	release.Components = []refitv1alpha1.ReleaseComponent{
		{Name: "liqo", Version: "v1.2.0", Fits: []refitv1alpha1.ComponentFit{{Version: "<1.2", Kubernetes: "<1.36"}, {Version: ">=1.2"}}},
		{Name: "metrics-server", Version: "0.9.0"},
	}
	component := func(name, from, to, kubernetes string) cluster.Component {
		return cluster.Component{Name: name, Manage: refitv1alpha1.ManageRefit, Status: refitv1alpha1.ComponentStatus{
			Owner: refitv1alpha1.OwnerHelm, Installed: &refitv1alpha1.InstalledComponent{Version: from, Namespace: name, Name: name, Revision: 1},
			Offers: []refitv1alpha1.ComponentOffer{{
				Release: refitv1alpha1.ReleaseRef{Name: release.Name, Digest: release.Digest}, Version: to, Action: refitv1alpha1.ActionUpgrade,
				Kubernetes: kubernetes, Digest: "sha256:" + strings.Repeat("a", 64), Changes: refitv1alpha1.ObjectChanges{Change: 4},
			}},
		}}
	}
	liqo := component("liqo", "v1.1.2", "v1.2.0", "v1.35.4")
	offer := &liqo.Status.Offers[0]
	offer.Changes = refitv1alpha1.ObjectChanges{Create: 3, Change: 41, Delete: 6}
	offer.Deletes = []string{"ClusterRole liqo-old", "Job liqo/pre-delete", "Role liqo/a", "Role liqo/b", "Role liqo/c", "Role liqo/d"}
	offer.CRDs = []refitv1alpha1.CRDChange{{Name: "foreignclusters.core.liqo.io", Storage: "v1beta1", Objects: 2}, {Name: "virtualnodes.offloading.liqo.io", Objects: 1}}
	s.Components = []cluster.Component{liqo, component("metrics-server", "0.7.2", "0.9.0", "v1.36.3")}
	s.Workloads = append(s.Workloads, cluster.Workload{Namespace: "refit-components", Kind: "Deployment", Name: "refit-components", Pods: 2, Ready: 2})
	return s
}

// shop is a cluster of 3+2 nodes with a workload that has a PodDisruptionBudget, and with a
// ClusterRelease as `refit release create` makes it.
func shop() *cluster.Snapshot {
	return read(clustertest.HA("v1.35.4", 3, 2,
		clustertest.Released("v1.36.3"),
		func(s *cluster.Snapshot) {
			p := &s.Releases[0].Payload
			p.Etcd, p.CoreDNS, p.Pause = "3.6.8-0", "v1.14.2", "3.10.2"
		},
		clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "cart"}, map[string]int32{"worker-1": 2, "worker-2": 1}),
		clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "web"}, map[string]int32{"worker-1": 9, "worker-2": 11}),
		clustertest.Budget("shop", "cart", 1, "cart"),
	))
}

func ha(version string, releases ...string) func() *cluster.Snapshot {
	return func() *cluster.Snapshot {
		return read(clustertest.HA(version, 3, 4, clustertest.Released(releases...)))
	}
}

// behind is a cluster whose control plane is newer than its workers.
func behind() *cluster.Snapshot {
	return read(clustertest.HA("v1.36.3", 3, 4, clustertest.Released("v1.36.3"), clustertest.OnEveryNode(func(n *cluster.Node) {
		if !n.ControlPlane {
			n.Kubelet = "v1.34.2"
		}
	})))
}

func large() *cluster.Snapshot {
	s := clustertest.Synthetic(5000, 100000, 1)
	clustertest.Released("v1.36.3")(s)
	return read(s)
}

func withAgents(of func() *cluster.Snapshot) func() *cluster.Snapshot {
	return func() *cluster.Snapshot {
		s := of()
		clustertest.Agents()(s)
		return s
	}
}

// read adds the cost of reading to a Snapshot: what it was on the testbed for five nodes, and more
// for more pods.
func read(s *cluster.Snapshot) *cluster.Snapshot {
	pods := 0
	for i := range s.Workloads {
		pods += int(s.Workloads[i].Pods)
	}
	s.Cost = cluster.Cost{Requests: 35 + pods/500, Bytes: 1 << 20, Pods: pods, Took: 300*time.Millisecond + time.Duration(pods)*20*time.Microsecond}
	return s
}

func someWorkers() refitv1alpha1.ClusterUpgradeSpec {
	spec := to("v1.36.3")
	spec.Scope = refitv1alpha1.ScopeWorkers
	spec.NodeSelector = map[string]string{"topology.kubernetes.io/zone": "a"}
	return spec
}

func pools() refitv1alpha1.ClusterUpgradeSpec {
	spec := to("v1.36.3")
	some, few := intstr.FromString("2%"), intstr.FromInt32(5)
	spec.Pools = []refitv1alpha1.Pool{
		{Name: "storage", NodeSelector: map[string]string{"pool": "storage"}},
		{Name: "batch", NodeSelector: map[string]string{"pool": "batch"}, MaxUnavailable: &few},
		{
			Name: "default", MaxUnavailable: &some,
			Canary: &refitv1alpha1.Canary{Nodes: 2, Soak: metav1.Duration{Duration: 30 * time.Minute}},
		},
	}
	return spec
}
