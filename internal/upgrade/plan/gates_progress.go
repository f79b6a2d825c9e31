package plan

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	// quietPeriod is how long an agent with an order may report nothing before it is probed.
	quietPeriod = 3 * time.Minute
	// maxReportRequests bounds the open requests: thousands of agents may prefetch for long.
	maxReportRequests = 16
)

// nodeLost waits for a node that has not been ready for long, counted from its order if that was
// later.
func nodeLost(d *deciding, n *cluster.Node, hop int) *Wait {
	since, order := d.past(n.ReadySince), d.order(n)
	if order.Spec.OrderTime != nil && order.Spec.OrderTime.After(since) {
		since = order.Spec.OrderTime.Time
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
	if n.Report == nil || n.ReportRequest > n.Report.Answered {
		requested := d.lastContact(n).UTC()
		if n.Report != nil {
			requested = time.Unix(n.ReportRequest, 0).UTC()
		}
		if !d.overdue(requested) {
			return nil
		}
		return &Wait{
			Reason: refitv1alpha1.ReasonReportMissing, Node: n.Name, Since: requested, ManualIntervention: true,
			Message: "The agent on " + n.Name + " has an order and does not respond",
			Remedy:  checkAgent(n),
		}
	}
	if d.now.Sub(d.lastContact(n)) > quietPeriod && d.openRequests() < maxReportRequests {
		d.requestReport(n, time.Time{}, "its agent has an order and has been quiet")
	}
	return nil
}

// agentWaits reports an agent that has waited for long for something outside its host, such as
// permission to change it. The agent continues by itself once that is there.
func agentWaits(d *deciding, n *cluster.Node, _ int) *Wait {
	waiting := meta.FindStatusCondition(d.order(n).Status.Conditions, refitv1alpha1.ConditionWaiting)
	if waiting == nil || waiting.Status != metav1.ConditionTrue {
		return nil
	}
	since := d.byThisClock(n, waiting.LastTransitionTime.Time)
	if ordered := d.order(n).Spec.OrderTime; ordered != nil && ordered.After(since) {
		since = ordered.Time
	}
	if !d.overdue(since) {
		return nil
	}
	w := &Wait{
		Reason: refitv1alpha1.ReasonWaiting, Node: n.Name, Since: since, ManualIntervention: true,
		Message: fmt.Sprintf("The agent on %s waits: %s", n.Name, waiting.Message),
		Remedy: fmt.Sprintf("Remove the cause; the log on %s has the details: `journalctl -u refit-agent`. "+
			"Refit continues automatically; `refit abort` ends the upgrade", n.Name),
	}
	if d.rollsBack(n) {
		w.Remedy = fmt.Sprintf("Remove the cause; the log on %s has the details: `journalctl -u refit-agent`. "+
			"The rollback has no timeout for this and continues automatically", n.Name)
	}
	return w
}

// rollsBack reports whether an agent rolls its host back, by an order or because a step failed.
func (d *deciding) rollsBack(n *cluster.Node) bool {
	order := d.order(n)
	return order.Spec.Permit == refitv1alpha1.PermitRollback || order.Status.Phase == refitv1alpha1.NodeRollingBack
}

// lastContact is when a node's agent got its order or was last requested to report, which it has
// done. Both times are of this clock: an agent that stopped is found even if its clock is wrong.
func (d *deciding) lastContact(n *cluster.Node) time.Time {
	last := time.Unix(n.ReportRequest, 0)
	if order := d.order(n); order != nil && order.Spec.OrderTime != nil && order.Spec.OrderTime.After(last) {
		last = order.Spec.OrderTime.Time
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

// slowDelay is how long an agent may change a host before that is reported. A step that hangs ends
// with its own timeout, which is up to an hour. Only the wait of a rollback for a lock has none.
const slowDelay = 30 * time.Minute

// waitForAgent waits for an agent that changes its host. One that takes long is reported, since
// thousands of others that progress would hide it, but the operation does not stall.
func (d *deciding) waitForAgent(n *cluster.Node, what string) {
	d.busy++
	w := d.inProgress(n, what+stepOf(n))
	if ordered := d.order(n).Spec.OrderTime; ordered != nil && d.now.Sub(ordered.Time) > slowDelay {
		w.Reason, w.Since, w.ManualIntervention = refitv1alpha1.ReasonWaiting, ordered.Time, true
		w.Message = fmt.Sprintf("%s takes longer than %s%s", what, duration(slowDelay), stepOf(n))
		w.Remedy = fmt.Sprintf("Check the agent on %s: `journalctl -u refit-agent`. "+
			"It completes or rolls back the host automatically when the step times out", n.Name)
		if d.rollsBack(n) {
			w.Remedy = fmt.Sprintf("Check the agent on %s: `journalctl -u refit-agent`. "+
				"A step of the rollback that times out is reported; the wait for a lock does not time out", n.Name)
		}
	}
	d.wait(w)
}
