package etcdbackup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// maxReportAge is how old the answer of an agent may be when its node is chosen. Leadership of etcd
// and the health of a member change at any time.
const maxReportAge = 5 * time.Minute

// Choose returns the node that takes the next attempt: one with a healthy follower, or with the
// only member, or one that reaches such a member of an external etcd. It avoids the node of the
// last attempt if there is another one. Without a node it returns why each is unsuitable.
//
// taking are the EtcdBackups in progress, by node: the next order of a node would overwrite a
// result that is not recorded yet.
func Choose(nodes []cluster.Node, active map[string]bool, taking map[string]string, avoid string, now time.Time) (*cluster.Node, string) {
	var chosen *cluster.Node
	var why []string
	for i := range nodes {
		n := &nodes[i]
		if !n.ControlPlane {
			continue
		}
		problem := Unsuitable(n, active[n.Name], now)
		if other := taking[n.Name]; problem == "" && other != "" {
			problem = "it takes EtcdBackup " + other
		}
		if problem != "" {
			why = append(why, n.Name+": "+problem)
			continue
		}
		if chosen == nil || chosen.Name == avoid {
			chosen = n
		}
	}
	if len(why) == 0 {
		why = []string{"the cluster has no control plane node"}
	}
	return chosen, strings.Join(why, "; ")
}

// Unsuitable returns why a node cannot take a backup now, and nothing if it can.
func Unsuitable(n *cluster.Node, active bool, now time.Time) string {
	switch r := n.Report; {
	case !n.IsReady():
		return "the node is not ready"
	case r == nil || string(r.NodeUID) != n.UID:
		return "its agent has not reported"
	case r.OrderFormat < orders.BackupFormat:
		return fmt.Sprintf("its agent supports order format %d, but a backup needs %d", r.OrderFormat, orders.BackupFormat)
	case !reported(n, now):
		return "its agent has not answered the request for a report"
	case r.ExternalEtcd != nil:
		if !reachesFollower(r.ExternalEtcd) {
			return "it reaches no healthy follower of the external etcd"
		}
	case r.Etcd == nil:
		return "no etcd member runs on it"
	case !r.Etcd.Healthy || r.Etcd.Learner:
		return "its etcd member is unhealthy or a learner"
	case r.Etcd.Leader && len(r.Etcd.Members) > 1:
		return "its etcd member is the leader"
	}
	if active {
		return "an upgrade is changing the node"
	}
	return occupied(n, now)
}

// reachesFollower reports whether an external etcd has a healthy follower, or only one member.
func reachesFollower(e *refitv1alpha1.ExternalEtcdFacts) bool {
	return slices.ContainsFunc(e.Members, func(m refitv1alpha1.ExternalEtcdMember) bool {
		return m.Healthy && !m.Learner && (!m.Leader || len(e.Members) == 1)
	})
}

// reported reports whether the agent has answered a recent request.
func reported(n *cluster.Node, now time.Time) bool {
	return n.Report.Answered >= n.ReportRequest && now.Sub(time.Unix(n.ReportRequest, 0)) < maxReportAge
}

// occupied returns what the agent does under its present order.
func occupied(n *cluster.Node, now time.Time) string {
	u := n.Upgrade
	if u == nil || string(u.Spec.NodeUID) != n.UID {
		return ""
	}
	answered := u.Status.ObservedSequence == u.Spec.Sequence
	switch {
	case orders.BackingUp(u, now):
		return "its agent takes EtcdBackup " + u.Spec.Backup.Name
	case changes(u.Status.Phase), u.Status.Phase == refitv1alpha1.NodeFailed && node.Disrupted(u.Status.Steps):
		return "its host is partly changed by an upgrade"
	case u.Spec.Permit != refitv1alpha1.PermitBackup && !answered && orders.Refusal(u) == nil:
		return "its agent has not answered its order yet"
	case answered && u.Status.Phase == refitv1alpha1.NodePrefetching:
		return "its agent is prefetching"
	}
	return ""
}

func changes(phase refitv1alpha1.NodePhase) bool {
	return phase == refitv1alpha1.NodeApplying || phase == refitv1alpha1.NodeRollingBack
}
