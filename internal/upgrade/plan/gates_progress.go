package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	// quiet is how long an agent with an order may tell nothing before it is asked whether it is there.
	quietPeriod = 3 * time.Minute
	// questions is how many may be open at a time: five thousand agents that fetch for long would all be asked at once.
	maxReportRequests = 16
)

// nodeLost waits for a node that has not been ready for longer than patience, counted from when its
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
		what = "being put back"
	}
	w := d.notReady(n, what)
	return &w
}

// agentSilent waits for an agent with an order that does not answer, and asks one that has been
// quiet. A stopped agent would otherwise be waited for as long as one that has much to do.
func agentSilent(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.Report == nil {
		return nil
	}
	if n.Asked > n.Report.Answered {
		asked := time.Unix(n.Asked, 0).UTC()
		if d.now.Sub(asked) <= interventionDelay {
			return nil
		}
		return &Wait{
			Reason: refitv1alpha1.ReasonReportMissing, Node: n.Name, Since: asked, ManualIntervention: true,
			Message: "The agent on " + n.Name + " was ordered to work and does not answer",
			Remedy:  "see whether it runs: systemctl status refit-agent; journalctl -u refit-agent (on " + n.Name + ")",
		}
	}
	if d.now.Sub(d.lastContact(n)) > quietPeriod && d.openRequests() < maxReportRequests {
		d.requestReport(n, "it was ordered to work and has told nothing for a while")
	}
	return nil
}

// heard is when a node's agent was heard of last, or was given its order. An answer counts from the question: that was by our own clock.
func (d *deciding) lastContact(n *cluster.Node) time.Time {
	last := time.Unix(n.Asked, 0)
	hear := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	if n.Report.ObservedTime != nil {
		hear(n.Report.ObservedTime.Time)
	}
	order := d.order(n)
	if order == nil {
		return last
	}
	if order.Spec.OrderTime != nil {
		hear(order.Spec.OrderTime.Time)
	}
	if order.Status.StartTime != nil {
		hear(order.Status.StartTime.Time)
	}
	for _, step := range order.Status.Steps {
		if step.StartTime != nil {
			hear(step.StartTime.Time)
		}
		if step.CompletionTime != nil {
			hear(step.CompletionTime.Time)
		}
	}
	return last
}

// openQuestions counts the questions that wait for an answer, those of this decision included.
func (d *deciding) openRequests() int {
	open := d.openReportRequests
	for i := range d.actions {
		if d.actions[i].Kind == RequestReport {
			open++
		}
	}
	return open
}
