package text_test

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// troubled is shop with typical problems.
func troubled() *cluster.Snapshot {
	s := shop()
	for _, change := range []clustertest.Change{
		budgetNeverAllows, etcdNotReady, removedGates, webhookWithOneReplica, unmanagedPods, helmForbidden, underGitOps,
		clustertest.OnNode("worker-2", func(n *cluster.Node) { n.Unschedulable = true }),
	} {
		change(s)
	}
	return read(s)
}

// waiveCordon is the request for troubled: its cordoned node is waived.
func waiveCordon() refitv1alpha1.ClusterUpgradeSpec {
	spec := to("v1.36.3")
	spec.Waivers = []refitv1alpha1.Waiver{{Check: "NodeCordonedByHand", Object: "Node worker-2", Reason: "disk is swapped on Thursday, TICKET-4711"}}
	return spec
}

func budgetNeverAllows(s *cluster.Snapshot) {
	b := &s.Budgets[0]
	b.MinAvailable, b.MaxUnavailable, b.Desired, b.Allowed = "3", "", 3, 0
}

func etcdNotReady(s *cluster.Snapshot) {
	static := s.Node("cp-2").Static
	etcd := static["etcd"]
	etcd.Ready = false
	static["etcd"] = etcd
}

// removedGates sets one gate in the configuration of kubeadm, and another one in single manifests.
func removedGates(s *cluster.Snapshot) {
	s.Kubeadm.ExtraArgs = map[string]map[string]string{"kube-apiserver": {"feature-gates": "ServiceTrafficDistribution=true"}}
	for _, name := range []string{"cp-1", "cp-2"} {
		s.Node(name).Static["kube-scheduler"].Flags["feature-gates"] = "TopologyAwareHints=true"
	}
}

func webhookWithOneReplica(s *cluster.Snapshot) {
	s.Webhooks = append(s.Webhooks, cluster.Webhook{
		Configuration: "policy.example.com", Name: "pods.policy.example.com", FailClosed: true, Equivalent: true, Resources: []string{"/pods"},
		Backend:    &cluster.Backend{Namespace: "policy", Service: "policy", Found: cluster.Yes, Ready: 1, Nodes: []string{"worker-2"}},
		CANotAfter: clustertest.Now.AddDate(1, 0, 0),
	})
}

func unmanagedPods(s *cluster.Snapshot) {
	for name, node := range map[string]string{"debug": "worker-1", "shell": "worker-2"} {
		clustertest.Pods(cluster.Workload{Namespace: "default", Kind: "Pod", Name: name}, map[string]int32{node: 1})(s)
	}
}

func helmForbidden(s *cluster.Snapshot) {
	s.Gaps = append(s.Gaps, cluster.Gap{Part: cluster.PartHelm, Kind: cluster.GapForbidden, Message: "no permission to list secrets in all namespaces: " +
		`secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope`})
}

func underGitOps(s *cluster.Snapshot) {
	s.Actors = append(s.Actors, cluster.Actor{Kind: "ArgoCD", Object: "StatefulSet argocd/argocd-application-controller", Active: cluster.Yes})
}
