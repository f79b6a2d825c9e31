package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	// quietPeriod is how long an agent with an order may report nothing before it is probed.
	quietPeriod = 3 * time.Minute
	// maxReportRequests bounds the open requests: thousands of agents may prefetch for long.
	maxReportRequests = 16
)

// nodeLost waits for a node that has not been ready for long, counted from when its
// agent started if that was later.
func nodeLost(d *deciding, n *cluster.Node, hop int) *Wait {
	since, order := n.ReadySince, d.order(n)
	if d.phase(n) != "" && order.Status.StartTime != nil && order.Status.StartTime.After(since) {
		since = order.Status.StartTime.Time
	}
	if n.IsReady() || d.now.Sub(since) <= interventionDelay {
		return nil
	}
	what := "being upgraded to " + d.plan.Hops[hop].Kubernetes
	if order.Spec.Permit == refitv1alpha1.PermitRollback {
		what = "being rolled back"
	}
	w := d.notReady(n, what)
	w.Remedy = orAbandon(n, w.Remedy)
	return &w
}

// agentSilent waits for an agent with an order that does not respond, and probes one that has been
// quiet. Otherwise a stopped agent would look like one that has much to do.
func agentSilent(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.Report == nil {
		return nil
	}
	if n.ReportRequest > n.Report.Answered {
		requested := time.Unix(n.ReportRequest, 0).UTC()
		if d.now.Sub(requested) <= interventionDelay {
			return nil
		}
		return &Wait{
			Reason: refitv1alpha1.ReasonReportMissing, Node: n.Name, Since: requested, ManualIntervention: true,
			Message: "The agent on " + n.Name + " has an order and does not respond",
			Remedy:  orAbandon(n, "Check that it runs on "+n.Name+": `systemctl status refit-agent; journalctl -u refit-agent`"),
		}
	}
	if d.now.Sub(d.lastContact(n)) > quietPeriod && d.openRequests() < maxReportRequests {
		d.requestReport(n, "its agent has an order and has been quiet")
	}
	return nil
}

// lastContact is when a node's agent last reported something or got its order. A response counts
// from its request, which has the time of this clock.
func (d *deciding) lastContact(n *cluster.Node) time.Time {
	last := time.Unix(n.ReportRequest, 0)
	update := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	if n.Report.ObservedTime != nil {
		update(n.Report.ObservedTime.Time)
	}
	order := d.order(n)
	if order == nil {
		return last
	}
	if order.Spec.OrderTime != nil {
		update(order.Spec.OrderTime.Time)
	}
	if order.Status.StartTime != nil {
		update(order.Status.StartTime.Time)
	}
	for _, step := range order.Status.Steps {
		if step.StartTime != nil {
			update(step.StartTime.Time)
		}
		if step.CompletionTime != nil {
			update(step.CompletionTime.Time)
		}
	}
	return last
}

// openRequests counts the open requests, those of this decision included.
func (d *deciding) openRequests() int {
	open := d.openReportRequests
	for i := range d.actions {
		if d.actions[i].Kind == RequestReport {
			open++
		}
	}
	return open
}
