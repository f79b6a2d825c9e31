package preflight

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

func virtualIPSituations() []situation {
	yes, no := true, false
	alsoHolds := onReport("cp-2", func(r *refitv1alpha1.NodeReportStatus) { r.Addresses = append(r.Addresses, "10.0.0.100") })
	keepalived := func(checks *bool) refitv1alpha1.VirtualIPFacts {
		return refitv1alpha1.VirtualIPFacts{Address: "10.0.0.100", Software: refitv1alpha1.Keepalived, HealthCheck: checks}
	}
	virtualIP := func(facts refitv1alpha1.VirtualIPFacts) change {
		return clustertest.OnEveryNode(func(n *cluster.Node) {
			if n.ControlPlane {
				n.Report.VirtualIPs = []refitv1alpha1.VirtualIPFacts{facts}
			}
		})
	}
	unmoved := clustertest.OnEveryNode(func(n *cluster.Node) { n.Report.VirtualIPs = nil })
	unheld := onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) {
		r.Addresses = slices.DeleteFunc(r.Addresses, func(address string) bool { return address == "10.0.0.100" })
	})
	return []situation{
		{check: "EndpointHeldTwice", name: "one node holds it"},
		{check: "EndpointHeldTwice", name: "two nodes hold it", change: alsoHolds, want: Warn},
		{check: "EndpointHeldTwice", name: "all nodes hold it, as kube-vip with BGP does", change: all(alsoHolds, virtualIP(refitv1alpha1.VirtualIPFacts{
			Address: "10.0.0.100", Software: refitv1alpha1.KubeVIP, HealthCheck: &no, Shared: true,
		}))},
		{check: "EndpointHeldTwice", name: "only workers are upgraded", change: alsoHolds, spec: scope(refitv1alpha1.ScopeWorkers)},

		{check: "VirtualIPUnchecked", name: "kube-vip with leader election"},
		{check: "VirtualIPUnchecked", name: "a load balancer outside the cluster", change: all(unmoved, unheld)},
		{check: "VirtualIPUnchecked", name: "kube-vip in a DaemonSet, which agents do not report", change: unmoved, want: Warn, unknown: true},
		{check: "VirtualIPUnchecked", name: "the node's own address", change: all(unmoved, func(s *snapshot) {
			s.Node("cp-1").Addresses = append(s.Node("cp-1").Addresses, "10.0.0.100")
		})},
		{check: "VirtualIPUnchecked", name: "keepalived with a check", change: virtualIP(keepalived(&yes))},
		{check: "VirtualIPUnchecked", name: "keepalived without a check", change: virtualIP(keepalived(&no)), want: Warn},
		{check: "VirtualIPUnchecked", name: "keepalived moves another address", change: all(unheld, virtualIP(refitv1alpha1.VirtualIPFacts{
			Address: "10.0.0.200", Software: refitv1alpha1.Keepalived, HealthCheck: &no,
		}))},
		{check: "VirtualIPUnchecked", name: "whether keepalived checks is unknown", change: virtualIP(keepalived(nil)), want: Warn, unknown: true},
		{check: "VirtualIPUnchecked", name: "kube-vip without leader election", change: virtualIP(refitv1alpha1.VirtualIPFacts{
			Address: "10.0.0.100", Software: refitv1alpha1.KubeVIP, HealthCheck: &no,
		}), want: Warn},
		{
			check: "VirtualIPUnchecked", name: "a proxy on each node listens on another port",
			change: all(virtualIP(keepalived(&no)), func(s *snapshot) { s.Endpoint.Address = "10.0.0.100:8443" }),
		},
	}
}
