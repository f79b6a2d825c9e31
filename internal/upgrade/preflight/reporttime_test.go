package preflight

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// A fact of a NodeReport has the time of the report; a fact from elsewhere has none, even if the
// same check also reads reports.
func TestFindingsHaveTheTimeOfTheirReport(t *testing.T) {
	then := metav1.NewTime(clustertest.Now.Add(-3 * time.Hour))
	at := func(node string, change func(*cluster.Node)) func(*snapshot) {
		return func(s *snapshot) {
			for i := range s.Nodes {
				if n := &s.Nodes[i]; n.Name == node {
					n.Report.ObservedTime = &then
					change(n)
				}
			}
		}
	}
	external := func(change func(*refitv1alpha1.ExternalEtcdFacts)) func(*snapshot) {
		return all(func(s *snapshot) {
			s.Kubeadm.ExternalEtcd = true
			for i := range 3 {
				delete(s.Nodes[i].Static, "etcd")
				s.Nodes[i].Report.Etcd = nil
				s.Nodes[i].Report.ExternalEtcd = &refitv1alpha1.ExternalEtcdFacts{
					ClusterID: "c1", QuotaMiB: 2048, Members: []refitv1alpha1.ExternalEtcdMember{{Name: "etcd-1", Version: "3.6.6", Healthy: true}},
				}
			}
		}, at("cp-1", func(n *cluster.Node) { change(n.Report.ExternalEtcd) }))
	}
	for name, c := range map[string]struct {
		change      func(*snapshot)
		check       string
		fromAReport bool
	}{
		"disk": {
			check: "DiskTooSmall", fromAReport: true,
			change: at("worker-1", func(n *cluster.Node) {
				n.Report.Disks = []refitv1alpha1.DiskFacts{{Path: "/var", FreeMiB: 1, NeededMiB: 9}}
			}),
		},
		"member of etcd": {
			check: "EtcdMemberUnhealthy", fromAReport: true,
			change: at("cp-2", func(n *cluster.Node) { n.Report.Etcd.Healthy = false }),
		},
		"version of etcd that the agent reports": {
			check: "EtcdTooOld", fromAReport: true,
			change: at("cp-2", func(n *cluster.Node) { n.Report.Etcd.Version = "3.4.30" }),
		},
		"version of etcd in the image": {
			check: "EtcdTooOld",
			change: at("cp-2", func(n *cluster.Node) {
				etcd := n.Static["etcd"]
				etcd.Version, n.Report.Etcd.Version = "3.4.30", ""
				n.Static["etcd"] = etcd
			}),
		},
		"member of an external etcd": {
			check: "EtcdMemberUnhealthy", fromAReport: true,
			change: external(func(e *refitv1alpha1.ExternalEtcdFacts) { e.Members[0].Healthy = false }),
		},
		"alarm of an external etcd": {
			check: "EtcdAlarm", fromAReport: true,
			change: external(func(e *refitv1alpha1.ExternalEtcdFacts) { e.Alarms = []string{"NOSPACE of etcd-1"} }),
		},
		"size of an external etcd": {
			check: "EtcdNearQuota", fromAReport: true,
			change: external(func(e *refitv1alpha1.ExternalEtcdFacts) { e.DBSizeMiB = 2000 }),
		},
		"agent that does not respond": {
			check:  "AgentSilent",
			change: at("worker-1", func(n *cluster.Node) { n.ReportRequest = clustertest.Now.Add(-time.Hour).Unix() }),
		},
		"static pod that the API does not have": {
			check:  "StaticPodMissing",
			change: at("cp-2", func(n *cluster.Node) { delete(n.Static, "kube-scheduler") }),
		},
		"manifest that the host does not have": {
			check: "StaticPodMissing", fromAReport: true,
			change: at("cp-2", func(n *cluster.Node) { n.Report.Drift.MissingManifests = []string{"kube-scheduler"} }),
		},
		"API server that was queried": {
			check: "APIServerNotReady",
			change: all(
				at("cp-2", func(n *cluster.Node) { n.Report.APIServer.Ready = false }),
				func(s *snapshot) { s.APIServer("cp-2").Ready = cluster.No },
			),
		},
	} {
		t.Run(name, func(t *testing.T) {
			situation := situation{change: c.change}
			for _, f := range Run(situation.input(t)).Findings {
				if f.Check != c.check {
					continue
				}
				if got := f.ReportTime.Equal(then.Time); got != c.fromAReport || !c.fromAReport && !f.ReportTime.IsZero() {
					t.Errorf("%s has the report time %s", f.Object, f.ReportTime)
				}
				return
			}
			t.Errorf("no finding of %s", c.check)
		})
	}
}
