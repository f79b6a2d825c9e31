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
		Reason: refitv1alpha1.ReasonReleaseMissing, ManualIntervention: true, Message: fmt.Sprintf("There is no ClusterRelease of %s in the cluster", version),
		Remedy: "make one of your files and sign it: refit release create --kubernetes " + version + " --from DIRECTORY, then refit release sign",
	}
}

func machineUnknown(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.Report != nil && n.Report.MachineID != "" && (n.Report.NodeUID == "" || string(n.Report.NodeUID) == n.UID) {
		return nil
	}
	return &Wait{
		Reason: refitv1alpha1.ReasonReportMissing, Node: n.Name, Since: n.CreatedAt, ManualIntervention: d.now.Sub(n.CreatedAt) > interventionDelay,
		Message: fmt.Sprintf("The agent on %s has not reported which machine it is on", n.Name),
		Remedy:  "see whether refit-agent runs on the node: systemctl status refit-agent",
	}
}

// othersActive looks at the claims, and at what agents of the control plane were ordered to do: a claim that was lost does not stop an agent.
func othersActive(d *deciding, n *cluster.Node, _ int) *Wait {
	for _, name := range d.op.Active {
		if name != n.Name {
			return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: name, Message: fmt.Sprintf("%s waits until %s is done", n.Name, name)}
		}
	}
	for _, other := range d.controlPlane {
		if other != n && d.changing(other) {
			return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: other.Name, Message: fmt.Sprintf("%s waits until %s is done", n.Name, other.Name)}
		}
	}
	return nil
}

// halfChanged says that a node is the one whose turn it is and that its last change failed: it need not be well to be tried again.
func (d *deciding) partlyChanged(n, turn *cluster.Node) bool { return n == turn && d.changing(n) }

func controlPlaneNotReady(d *deciding, turn *cluster.Node, _ int) *Wait {
	for _, n := range d.servers {
		if !n.IsReady() && !d.partlyChanged(n, turn) {
			w := d.notReady(n, "a control plane node")
			w.Reason = refitv1alpha1.ReasonControlPlaneUnhealthy
			return &w
		}
	}
	return nil
}

// reportsStale asks the agents of the control plane for facts that are new enough to decide on.
func reportsStale(d *deciding, _ *cluster.Node, _ int) *Wait {
	return d.requireReportsSince(d.now.Add(-maxReportAge))
}

// reportsFromBefore asks the agents of the control plane for facts from after the node was changed.
func reportsFromBefore(d *deciding, n *cluster.Node, _ int) *Wait {
	since := d.now.Add(-maxReportAge)
	if order := d.order(n); order != nil && order.Status.CompletionTime != nil && order.Status.CompletionTime.After(since) {
		since = order.Status.CompletionTime.Time
	}
	return d.requireReportsSince(since)
}

// known says whether the agents of the control plane have told anything since the last change of a control plane node ended.
func (d *deciding) reported(n *cluster.Node) bool {
	var since time.Time
	if order := d.order(n); order != nil && order.Status.CompletionTime != nil {
		since = order.Status.CompletionTime.Time
	}
	return n.ControlPlane && !slices.ContainsFunc(d.servers, func(other *cluster.Node) bool {
		return other.Report == nil || other.Report.ObservedTime == nil || other.Report.ObservedTime.Time.Before(since)
	})
}

// ask asks a node's agent for facts, once in a decision. The request is the time, so that a decider without memory knows since when nobody has answered.
func (d *deciding) requestReport(n *cluster.Node, why string) {
	if !slices.ContainsFunc(d.actions, func(a Action) bool { return a.Kind == RequestReport && a.Node == n.Name }) {
		d.act(RequestReport, n, "%s", why).Request = max(n.Asked+1, d.now.Unix())
	}
}

func (d *deciding) requireReportsSince(since time.Time) *Wait {
	var first *Wait
	for _, n := range d.servers {
		if n.Report != nil && n.Report.Answered >= n.Asked && n.Report.ObservedTime != nil && !n.Report.ObservedTime.Time.Before(since) {
			continue
		}
		asked := n.Report != nil && n.Asked > n.Report.Answered
		if !asked && n.Report != nil {
			d.requestReport(n, "the control plane is looked at before and after each of its nodes")
		}
		if first == nil {
			first = &Wait{
				Reason: refitv1alpha1.ReasonReportMissing, Node: n.Name, Message: fmt.Sprintf("Waiting for fresh facts from the agent on %s", n.Name),
				Remedy: "see whether refit-agent runs on the node and its clock is right: systemctl status refit-agent; timedatectl",
			}
			first.ManualIntervention = n.Report == nil
			if asked {
				first.Since = time.Unix(n.Asked, 0).UTC()
				first.ManualIntervention = d.now.Sub(first.Since) > interventionDelay
			}
		}
	}
	return first
}

func etcdUnhealthy(d *deciding, turn *cluster.Node, _ int) *Wait {
	if d.s.ExternalEtcd() == cluster.Yes {
		return nil
	}
	members := d.s.EtcdMembers()
	unwell := func(message string) *Wait {
		return &Wait{
			Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, ManualIntervention: true, Message: message,
			Remedy: "mend etcd first; Refit goes on by itself when every member is well",
		}
	}
	closed := func(n *cluster.Node, format string, args ...any) *Wait {
		w := unwell(fmt.Sprintf(format, args...))
		w.Node, w.ManualIntervention = n.Name, !d.restarting(n)
		d.refreshReport(n)
		return w
	}
	if len(members) == 0 {
		return unwell("No etcd member could be found")
	}
	for _, n := range members {
		if d.partlyChanged(n, turn) {
			continue
		}
		if n.Report == nil || n.Report.Etcd == nil {
			return closed(n, "The agent on %s tells nothing of its etcd member", n.Name)
		}
		switch facts := n.Report.Etcd; {
		case !facts.Healthy:
			return closed(n, "The etcd member on %s does not answer", n.Name)
		case facts.Learner:
			return closed(n, "The etcd member on %s is a learner", n.Name)
		case len(facts.Alarms) > 0:
			return closed(n, "The etcd member on %s raises the alarm %s", n.Name, strings.Join(facts.Alarms, ", "))
		case len(facts.Members) != len(members):
			return closed(n, "The etcd member on %s knows of %d members, and %d nodes have one", n.Name, len(facts.Members), len(members))
		}
	}
	return nil
}

// comesUp says whether a node was changed a moment ago: a new kubelet makes every static pod anew.
func (d *deciding) restarting(n *cluster.Node) bool {
	order := d.order(n)
	return order != nil && order.Status.CompletionTime != nil && d.now.Sub(order.Status.CompletionTime.Time) < time.Minute
}

// askSoon asks an agent that told of something that is not well whether it still is.
func (d *deciding) refreshReport(n *cluster.Node) {
	const soon = 15 * time.Second
	if n.Report != nil && n.Asked <= n.Report.Answered && (n.Report.ObservedTime == nil || d.now.Sub(n.Report.ObservedTime.Time) > soon) {
		d.requestReport(n, "what it told was not well")
	}
}

// etcdLosesQuorum lets one member of three or more go, the only member of one, and one of two if a person said yes to the outage.
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
		Message: fmt.Sprintf("Without %s, %d of %d etcd members would be left, and %d are needed", n.Name, others, len(members), len(members)/2+1),
		Remedy:  "bring every member back, or add one",
	}
	if len(members) == 2 {
		w.Remedy = fmt.Sprintf("add a member, or waive %s by its name if etcd may be away for a while", policy.CheckTwoMembers)
	}
	return w
}

func apiServerNotReady(d *deciding, turn *cluster.Node, _ int) *Wait {
	for _, n := range d.servers {
		if d.partlyChanged(n, turn) {
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
				Remedy:  "see why: kubectl get --raw /readyz?verbose, and the logs of its pod; Refit goes on by itself when it is ready",
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
				Message: fmt.Sprintf("The API server on %s is at %s: beside one at %s that is more than one minor version apart", n.Name, orUnknown(v), want),
				Remedy:  "bring the control plane to one version first",
			}
		}
	}
	return nil
}

// kubeletTooOld looks at every node of the cluster, also at those that the plan leaves out.
func kubeletTooOld(d *deciding, _ *cluster.Node, hop int) *Wait {
	want := d.targets[hop]
	for i := range d.s.Nodes {
		n := &d.s.Nodes[i]
		if v := d.kubelet(n); v.IsZero() || v.MinorsBehind(want) > skew.KubeletMinorsBehind {
			return &Wait{
				Reason: refitv1alpha1.ReasonSkew, Node: n.Name, ManualIntervention: true,
				Message: fmt.Sprintf("The kubelet on %s is at %s: too old for an API server at %s", n.Name, orUnknown(v), want),
				Remedy:  fmt.Sprintf("upgrade or remove %s first", n.Name),
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
