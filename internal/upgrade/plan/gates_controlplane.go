package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

func releaseMissing(d *deciding, _ *cluster.Node, hop int) *Wait {
	if d.plan.Hops[hop].Release != nil {
		return nil
	}
	version := d.plan.Hops[hop].Kubernetes
	return &Wait{
		Reason: refitv1alpha1.ReasonReleaseMissing, ManualIntervention: true, Message: fmt.Sprintf("The cluster has no ClusterRelease of %s", version),
		Remedy: "Create, sign and add one: `refit release add " + version + " --online`, or `--from DIRECTORY` without internet access",
	}
}

func machineUnknown(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.Report != nil && n.Report.MachineID != "" && (n.Report.NodeUID == "" || string(n.Report.NodeUID) == n.UID) {
		return nil
	}
	return &Wait{
		Reason: refitv1alpha1.ReasonReportMissing, Node: n.Name, Since: n.CreatedAt, ManualIntervention: d.now.Sub(n.CreatedAt) > interventionDelay,
		Message: fmt.Sprintf("The agent on %s has not reported its machine-id", n.Name),
		Remedy:  checkAgent(n),
	}
}

// othersActive checks the claims and the orders to control plane nodes: losing a claim does not
// stop an agent.
func othersActive(d *deciding, n *cluster.Node, _ int) *Wait {
	for _, name := range d.op.Active {
		if name != n.Name {
			return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: name, Message: fmt.Sprintf("%s waits for %s", n.Name, name)}
		}
	}
	for _, other := range d.controlPlane {
		if other != n && d.changing(other) {
			return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: other.Name, Message: fmt.Sprintf("%s waits for %s", n.Name, other.Name)}
		}
	}
	return d.otherServerChanging(n)
}

// otherServerChanging waits for a control plane node outside the plan whose host is being changed:
// for another operation, or although it was abandoned.
func (d *deciding) otherServerChanging(n *cluster.Node) *Wait {
	for _, other := range d.servers {
		if other != n && d.changedForAnother(other) {
			return d.otherChange(n, other)
		}
		if other != n && d.abandoned(other) && d.changing(other) {
			return &Wait{
				Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, Node: other.Name, ManualIntervention: true,
				Message: fmt.Sprintf("The agent on the abandoned control plane node %s may still change its host", other.Name),
				Remedy: fmt.Sprintf("Let it finish, or remove the node from the cluster and from etcd: `kubectl delete node %s; etcdctl member remove ID`",
					other.Name),
			}
		}
	}
	return nil
}

// retried reports whether a node may be unhealthy, since it is partly changed and is retried. It is
// the one to be upgraded, or a restore of etcd lost its claim: the node that has the claim now has
// to end first, and othersActive keeps every other node from the next one.
func (d *deciding) retried(n, turn *cluster.Node) bool {
	lost := !d.active[n.Name] && !d.abandoned(n) && d.active[turn.Name] && !d.changing(turn)
	return d.changing(n) && (n == turn || lost)
}

func controlPlaneNotReady(d *deciding, turn *cluster.Node, _ int) *Wait {
	for _, n := range d.servers {
		if !n.IsReady() && !d.retried(n, turn) {
			w := d.notReady(n, "a control plane node")
			w.Reason = refitv1alpha1.ReasonControlPlaneUnhealthy
			return &w
		}
	}
	return nil
}

// reportsStale requests reports that are recent enough to decide on.
func reportsStale(d *deciding, _ *cluster.Node, _ int) *Wait {
	return d.requireReportsSince(d.now.Add(-maxReportAge))
}

// reportsFromBefore requests reports from after the node's change.
func reportsFromBefore(d *deciding, n *cluster.Node, _ int) *Wait {
	since := d.now.Add(-maxReportAge)
	if seen := d.changeSeen(n); seen.After(since) {
		since = afterSecond(seen)
	}
	return d.requireReportsSince(since)
}

// reported reports whether every control plane agent has reported since the node's last change.
func (d *deciding) reported(n *cluster.Node) bool {
	since := d.changeSeen(n)
	return n.ControlPlane && !slices.ContainsFunc(d.servers, func(other *cluster.Node) bool {
		return other.Report == nil || d.reportedAfter(other).Before(since)
	})
}

// requestReport requests a report, once per decision. The request is the time, so that a controller
// without state can derive for how long it has been open. A wrong clock must not write one.
func (d *deciding) requestReport(n *cluster.Node, since time.Time, why string) {
	requested := func(a Action) bool { return a.Kind == RequestReport && a.Node == n.Name }
	if clockWrong(d, n, 0) == nil && !slices.ContainsFunc(d.actions, requested) {
		d.act(RequestReport, n, "%s", why).Request = max(n.ReportRequest+1, d.now.Unix(), since.Unix())
	}
}

func (d *deciding) requireReportsSince(since time.Time) *Wait {
	var first *Wait
	for _, n := range d.servers {
		if n.Report != nil && n.Report.Answered >= n.ReportRequest && !d.reportedAfter(n).Before(since) {
			continue
		}
		if w := clockWrong(d, n, 0); w != nil {
			return w
		}
		requested := n.Report != nil && n.ReportRequest > n.Report.Answered
		if !requested && n.Report != nil {
			d.requestReport(n, since, "the control plane is checked before and after each of its nodes")
		}
		if first == nil {
			first = &Wait{
				Reason: refitv1alpha1.ReasonReportMissing, Node: n.Name, Message: fmt.Sprintf("Waiting for a report of the agent on %s", n.Name),
				Remedy: checkAgent(n),
			}
			first.ManualIntervention = n.Report == nil
			if requested {
				first.Since = time.Unix(n.ReportRequest, 0).UTC()
				first.ManualIntervention = d.overdue(first.Since)
			}
		}
	}
	return first
}

func etcdUnhealthy(d *deciding, turn *cluster.Node, _ int) *Wait {
	if d.s.ExternalEtcd() == cluster.Yes {
		return externalEtcdUnhealthy(d, turn)
	}
	members := d.s.EtcdMembers()
	unhealthy := func(message string) *Wait {
		return &Wait{
			Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, ManualIntervention: true, Message: message,
			Remedy: "Fix etcd; Refit continues once every member is healthy",
		}
	}
	closed := func(n *cluster.Node, format string, args ...any) *Wait {
		w := unhealthy(fmt.Sprintf(format, args...))
		w.Node, w.ManualIntervention = n.Name, !d.restarting(n)
		d.refreshReport(n)
		return w
	}
	if len(members) == 0 {
		return unhealthy("No etcd member was found")
	}
	for _, n := range members {
		if d.retried(n, turn) {
			continue
		}
		if n.Report == nil || n.Report.Etcd == nil {
			return closed(n, "The agent on %s does not report its etcd member", n.Name)
		}
		switch facts := n.Report.Etcd; {
		case !facts.Healthy:
			return closed(n, "The etcd member on %s is unhealthy", n.Name)
		case facts.Learner:
			return closed(n, "The etcd member on %s is a learner", n.Name)
		case len(facts.Alarms) > 0:
			return closed(n, "The etcd member on %s has the alarm %s", n.Name, strings.Join(facts.Alarms, ", "))
		case len(facts.Members) != len(members):
			return closed(n, "The etcd member on %s lists %d members, but %d nodes have one", n.Name, len(facts.Members), len(members))
		}
	}
	return nil
}

// restarting reports whether a node has just been changed: a new kubelet restarts every static pod.
func (d *deciding) restarting(n *cluster.Node) bool {
	since := d.changeSeen(n)
	if since.IsZero() && d.order(n) != nil {
		since = d.completed(n)
	}
	return d.now.Sub(since) < time.Minute
}

// refreshReport requests another report from an agent that reported something unhealthy.
func (d *deciding) refreshReport(n *cluster.Node) {
	const soon = 15 * time.Second
	if n.Report != nil && n.ReportRequest <= n.Report.Answered && d.now.Sub(d.reportedAfter(n)) > soon {
		d.requestReport(n, time.Time{}, "it reported something unhealthy")
	}
}

// etcdLosesQuorum allows one member of three or more to restart, the only member, and one of two if
// the user has waived the outage.
func etcdLosesQuorum(d *deciding, n *cluster.Node, _ int) *Wait {
	if d.s.ExternalEtcd() == cluster.Yes {
		return nil
	}
	members, others := d.s.EtcdMembers(), 0
	for _, m := range members {
		if m != n && m.Report != nil && m.Report.Etcd != nil && m.Report.Etcd.Healthy && !m.Report.Etcd.Learner {
			others++
		}
	}
	if len(members) <= 1 || others > len(members)/2 || (len(members) == 2 && others == 1 && policy.WaivedAnywhere(d.spec, policy.CheckTwoMembers)) {
		return nil
	}
	w := &Wait{
		Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, Node: n.Name, ManualIntervention: true,
		Message: fmt.Sprintf("Without %s, %d of %d etcd members would be healthy, and the quorum is %d", n.Name, others, len(members), len(members)/2+1),
		Remedy:  "Fix the unhealthy members, or add one",
	}
	if len(members) == 2 {
		w.Remedy = fmt.Sprintf("Add a member, or waive %s if etcd may be unavailable for a while", policy.CheckTwoMembers)
	}
	return w
}

func apiServerNotReady(d *deciding, turn *cluster.Node, _ int) *Wait {
	for _, n := range d.servers {
		if d.retried(n, turn) {
			continue
		}
		ready := cluster.Unknown
		if server := d.s.APIServer(n.Name); server != nil {
			ready = server.Ready
		}
		if n.Report != nil && n.Report.APIServer != nil && ready == cluster.Unknown {
			ready = cluster.No
			if n.Report.APIServer.Ready {
				ready = cluster.Yes
			}
		}
		if ready != cluster.Yes {
			return &Wait{
				Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, Node: n.Name, ManualIntervention: true,
				Message: fmt.Sprintf("The API server on %s is not ready at its own address", n.Name),
				Remedy:  "Check `kubectl get --raw '/readyz?verbose'` and the logs of its pod; Refit continues once it is ready",
			}
		}
	}
	return nil
}

func apiServersApart(d *deciding, _ *cluster.Node, hop int) *Wait {
	want := d.targets[hop]
	for _, n := range d.servers {
		if v := d.serverVersion(n); want.IsZero() || v.IsZero() || !skew.APIServersFit(v, want) {
			return &Wait{
				Reason: refitv1alpha1.ReasonSkew, Node: n.Name, ManualIntervention: true,
				Message: fmt.Sprintf("The API server on %s runs %s, which is more than one minor version from %s", n.Name, orUnknown(v), want),
				Remedy:  "Upgrade all API servers to one minor version first",
			}
		}
	}
	return nil
}

// kubeletTooOld checks every node of the cluster, excluded ones too.
func kubeletTooOld(d *deciding, _ *cluster.Node, hop int) *Wait {
	want := d.targets[hop]
	for i := range d.s.Nodes {
		n := &d.s.Nodes[i]
		if v := d.kubelet(n); v.IsZero() || v.MinorsBehind(want) > skew.KubeletMinorsBehind {
			return &Wait{
				Reason: refitv1alpha1.ReasonSkew, Node: n.Name, ManualIntervention: true,
				Message: fmt.Sprintf("The kubelet on %s runs %s, which is too old for an API server at %s", n.Name, orUnknown(v), want),
				Remedy:  fmt.Sprintf("Upgrade or remove %s first", n.Name),
			}
		}
	}
	return nil
}

func orUnknown(v skew.Version) string {
	if v.IsZero() {
		return "an unknown version"
	}
	return v.String()
}
