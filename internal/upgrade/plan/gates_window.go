package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// nodeDoesNotFit holds the claim of a node that would not be done when the window closes. One that
// is being changed is claimed again: its claim was lost.
func nodeDoesNotFit(d *deciding, n *cluster.Node, hop int) *Wait {
	if d.opening == nil || d.changing(n) {
		return nil
	}
	needs := d.claimNeeds(n, hop)
	what := n.Name
	if needs > d.nodeNeeds(n, hop) {
		what = "the control plane"
	}
	w := d.closedFor(what, needs)
	if drain := d.lastDrain(n); w != nil && drain != nil && drain.Phase == refitv1alpha1.DrainBlocked {
		w.Message += fmt.Sprintf(". Its drain was blocked%s", blockersOf(drain))
		what = "the drain"
	}
	return d.orMissed(w, what)
}

// orMissed requires manual intervention if the window has been open, and nothing was changed.
func (d *deciding) orMissed(w *Wait, what string) *Wait {
	if w == nil || w.Reason != refitv1alpha1.ReasonWindowClosed || !d.missedOpening() {
		return w
	}
	w.Reason, w.ManualIntervention = refitv1alpha1.ReasonWindowTooShort, true
	w.Message += fmt.Sprintf(". The window has been open for %s, and nothing was changed", exactly(d.now.Sub(d.opening.span.Open)))
	w.Remedy = d.longerWindow(what)
	return w
}

// missedOpening reports whether the window has been open for the plan, and nothing was changed:
// another opening of this length may pass in the same way.
func (d *deciding) missedOpening() bool {
	o := d.opening
	if !o.open || o.override || d.op.ApprovedAt.IsZero() || d.op.ApprovedAt.After(o.span.Open) || d.busy > 0 {
		return false
	}
	since := o.span.Open.Add(-maxClockSkew)
	for i := range d.s.Nodes {
		if order := d.order(&d.s.Nodes[i]); order != nil && startedSince(order.Status.StartTime, since) {
			return false
		}
	}
	for i := range d.s.ComponentUpgrades {
		if startedSince(d.s.ComponentUpgrades[i].Status.StartTime, since) {
			return false
		}
	}
	return true
}

func startedSince(start *metav1.Time, since time.Time) bool {
	return start != nil && !start.Time.Before(since)
}

// lastDrain is the last drain of a node, nil if there was none.
func (v *view) lastDrain(n *cluster.Node) *refitv1alpha1.DrainStatus {
	if order := v.order(n); order != nil {
		return order.Status.Drain
	}
	return nil
}

// changeDoesNotFit releases a claimed node whose change would not be done when the window closes: a
// drain can be given up, a change cannot.
func changeDoesNotFit(d *deciding, n *cluster.Node, _ int) *Wait {
	if d.opening == nil || d.changing(n) {
		return nil
	}
	return d.closedFor(n.Name, d.changeNeeds(n))
}

// retryDoesNotFit holds the retry of a host that is partly changed.
func retryDoesNotFit(d *deciding, n *cluster.Node, _ int) *Wait {
	if d.opening == nil || !d.changing(n) {
		return nil
	}
	return d.closedFor(n.Name, d.changeNeeds(n))
}

// componentDoesNotFit holds the order for a component that would not be done when the window
// closes.
func componentDoesNotFit(d *deciding, step *componentplan.Step) *Wait {
	if d.opening == nil {
		return nil
	}
	what := "component " + step.Component
	return d.orMissed(d.closedFor(what, componentNeeds), what)
}

// prefetchTooEarly holds the order to prefetch while the window is closed, for prefetch InWindow.
func prefetchTooEarly(d *deciding, _ *cluster.Node, _ int) *Wait {
	if o := d.opening; o == nil || o.spec == nil || o.spec.Prefetch != refitv1alpha1.PrefetchInWindow {
		return nil
	}
	return d.closedFor("prefetching", 0)
}

// backupLead is how long before an opening the backup is taken: it has to be recent then.
const backupLead = 2 * time.Hour

// backupTooEarly holds a backup that would be too old, or almost, once the window opens.
func backupTooEarly(d *deciding, _ *cluster.Node, _ int) *Wait {
	o := d.opening
	if o == nil || o.open {
		return nil
	}
	lead := min(backupLead, d.spec.Backup.MaxAge.Duration/2)
	if o.unusable == "" && !d.now.Add(lead).Before(o.span.Open) {
		return nil
	}
	w := d.closedFor("the backup", 0)
	if o.unusable == "" {
		w.Until = o.span.Open.Add(-lead)
	}
	return w
}

// closedFor returns what something waits for that takes so long: the window is closed, or closes
// before. It is nil if it fits.
func (d *deciding) closedFor(what string, takes time.Duration) *Wait {
	o := d.opening
	switch {
	case o.fits(d.now, takes):
		return nil
	case o.unusable != "" && !o.open:
		return &Wait{
			Reason: refitv1alpha1.ReasonWindowUnusable, ManualIntervention: true,
			Message: fmt.Sprintf("The MaintenanceWindow %s never opens: %s", o.name, o.unusable),
			Remedy:  "Create or fix the MaintenanceWindow; `kubectl explain maintenancewindow.spec` describes it",
		}
	}
	if longest := o.longestAhead(d.now); o.calendar != nil && longest < takes {
		return &Wait{
			Reason: refitv1alpha1.ReasonWindowTooShort, ManualIntervention: true, Until: o.opensNext(),
			Message: fmt.Sprintf("The MaintenanceWindow %s is open for at most %s, and %s needs %s", o.name, exactly(longest), what, exactly(takes)),
			Remedy:  d.longerWindow(what),
		}
	}
	w := &Wait{Reason: refitv1alpha1.ReasonWindowClosed, Until: o.opensNext()}
	switch {
	case o.open:
		w.Message = fmt.Sprintf("The MaintenanceWindow %s closes at %s, and %s needs %s", o.name, d.localTime(o.span.Close), what, exactly(takes))
	case o.blackout != "":
		w.Message = fmt.Sprintf("The MaintenanceWindow %s is closed (%s) and opens at %s", o.name, o.blackout, d.localTime(o.span.Open))
	default:
		w.Message = fmt.Sprintf("The MaintenanceWindow %s is closed and opens at %s", o.name, d.localTime(o.span.Open))
	}
	if !o.open {
		w.Since = o.closed
	}
	return w
}

func (d *deciding) longerWindow(what string) string {
	switch what {
	case "the control plane":
		return "Make an opening longer, or set controlPlane of the MaintenanceWindow to NodeByNode"
	case "the drain":
		return "Make the pods evictable, or make an opening longer"
	}
	return "Make an opening longer, or set openUntil of the ClusterUpgrade"
}

// opensNext is when the window opens next, zero if that is not known.
func (o *opening) opensNext() time.Time {
	if !o.open {
		return o.span.Open
	}
	if o.calendar == nil {
		return time.Time{}
	}
	next, found := o.calendar.Next(o.span.Close)
	if !found {
		return time.Time{}
	}
	return next.Open
}

// notAfter is when the change of a node has to have started: what it takes at most is left then.
// It is zero without a window.
func (d *deciding) notAfter(n *cluster.Node) time.Time {
	if d.opening == nil {
		return time.Time{}
	}
	return d.opening.span.Close.Add(-d.slowest(n))
}

// lateGrace is how long an agent has after the end of its time to report that it has started.
const lateGrace = 30 * time.Second

// late reports whether the time of the node's order to change has passed, and its agent has not
// disrupted the host as far as is known.
func (v *view) late(n *cluster.Node) bool {
	order := v.order(n)
	if order == nil || order.Spec.NotAfter == nil || v.failed(n) || !v.now.After(order.Spec.NotAfter.Add(lateGrace)) {
		return false
	}
	return v.unpermitted(n) || v.phase(n) == "" && !changesHost(order.Status.Phase)
}

// lateComponent reports whether the time of the order for a component has passed, and nothing was
// started.
func (v *view) lateComponent(order *cluster.ComponentUpgrade) bool {
	return order.Spec.Permit == refitv1alpha1.PermitApply && order.Spec.NotAfter != nil && len(order.Status.Steps) == 0 &&
		v.now.After(order.Spec.NotAfter.Add(lateGrace))
}

// localTime is a time on the clock of the window.
func (d *deciding) localTime(at time.Time) string {
	const layout = "Mon 2006-01-02 15:04 MST"
	if d.opening.calendar == nil {
		return at.UTC().Format(layout)
	}
	return d.opening.calendar.Local(at).Format(layout)
}

// exactly is a duration with its seconds: two durations that differ must not read the same.
func exactly(d time.Duration) string { return d.Round(time.Second).String() }
