package plan

import (
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// externalEtcdUnhealthy checks every member of an external etcd, as the agent of each control plane
// node reaches it: the API server of that node depends on the same endpoints and certificate.
func externalEtcdUnhealthy(d *deciding, turn *cluster.Node) *Wait {
	var first *Wait
	clusterID := ""
	for _, n := range d.servers {
		if d.retried(n, turn) {
			continue
		}
		w := externalUnreported(n)
		if w == nil {
			w = externalWrong(n, &clusterID)
		}
		if w == nil {
			continue
		}
		d.refreshReport(n)
		if first == nil {
			first = w
		}
	}
	return first
}

// externalWrong waits for an external etcd that is unhealthy.
func externalWrong(n *cluster.Node, clusterID *string) *Wait {
	problem := externalProblem(n, clusterID)
	if problem == "" {
		return nil
	}
	return &Wait{
		Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, Node: n.Name, ManualIntervention: true, Message: problem,
		Remedy: "Fix etcd with its own tools: `etcdctl endpoint health --cluster`; Refit continues once every member is healthy",
	}
}

// externalUnreported waits for a control plane node whose agent does not report the external etcd:
// it reaches no endpoint, or it is older than this version of Refit.
func externalUnreported(n *cluster.Node) *Wait {
	version := "has not reported its version"
	switch {
	case n.Report != nil && n.Report.ExternalEtcd != nil:
		return nil
	case n.Report != nil && n.Report.AgentVersion != "":
		version = "is " + n.Report.AgentVersion
	}
	return &Wait{
		Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, Node: n.Name, ManualIntervention: true,
		Message: fmt.Sprintf("The agent on %s does not report the external etcd", n.Name),
		Remedy: fmt.Sprintf("The agent on %[1]s %[2]s. If it is older than the controller, upgrade it: `refit abort`, `refit install`, then start "+
			"the upgrade again. Otherwise, check that %[1]s reaches the endpoints in --etcd-servers of /etc/kubernetes/manifests/kube-apiserver.yaml "+
			"with the client certificate of its API server", n.Name, version),
	}
}

// externalProblem is what a control plane node reports that is wrong with the external etcd, empty
// if nothing is. All nodes must report one cluster.
func externalProblem(n *cluster.Node, clusterID *string) string {
	facts := n.Report.ExternalEtcd
	for _, m := range facts.Members {
		switch {
		case m.Learner:
			return fmt.Sprintf("The member %s of the external etcd is a learner", m.Name)
		case !m.Healthy && m.Problem == "":
			return fmt.Sprintf("%s reports that the member %s of the external etcd is unhealthy", n.Name, m.Name)
		case !m.Healthy:
			return fmt.Sprintf("%s reports that the member %s of the external etcd is unhealthy: %s", n.Name, m.Name, m.Problem)
		}
	}
	if len(facts.Alarms) > 0 {
		return "The external etcd has the alarm " + strings.Join(facts.Alarms, ", ")
	}
	if *clusterID == "" {
		*clusterID = facts.ClusterID
	}
	if facts.ClusterID != *clusterID {
		return fmt.Sprintf("The API server on %s uses another etcd cluster, %s, than the others, %s", n.Name, facts.ClusterID, *clusterID)
	}
	return ""
}
