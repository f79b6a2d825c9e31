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
