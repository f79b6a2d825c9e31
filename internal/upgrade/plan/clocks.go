package plan

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// Decisions compare times of one clock only: that of the controller, which a gate compares with the
// API servers'. A time of a host counts only where a wrong one does no harm.

// maxClockSkew is how far the clock of the controller may be off. Another controller wrote some of
// the times, so that two may differ by twice as much.
const maxClockSkew = policy.MaxClockSkew

// clockWrong holds an operation whose controller has a wrong clock: timeouts and soaks would be too
// short or never end, and the controller after it would misread the times that this one writes.
func clockWrong(d *deciding, _ *cluster.Node, _ int) *Wait {
	offset, where := d.s.ClockOffset, "ahead of"
	if offset < 0 {
		offset, where = -offset, "behind"
	}
	if offset <= maxClockSkew {
		return nil
	}
	return &Wait{
		state: Stalled, Reason: refitv1alpha1.ReasonClockSkewed, ManualIntervention: true,
		Message: fmt.Sprintf("The clock of the machine that runs the controller is %s %s the API servers'", duration(offset.Round(time.Second)), where),
		Remedy:  "Fix the time synchronization on that machine: `timedatectl status; systemctl restart chrony`. Refit continues automatically",
	}
}

// past returns a time that another clock wrote, or zero if it is in the future: that clock is
// wrong.
func (v *view) past(t time.Time) time.Time {
	if t.After(v.now.Add(2 * maxClockSkew)) {
		return time.Time{}
	}
	return t
}

// afterSecond is the first time after t that differs from it: timestamps and requests are in
// seconds.
func afterSecond(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) }

// overdue reports whether something that should happen by itself has taken too long. If it is not
// known since when, the user has to look.
func (v *view) overdue(since time.Time) bool {
	return v.past(since).IsZero() || v.now.Sub(since) > interventionDelay
}

// reportedAfter is a time by this clock after which the node's report was gathered: that of the
// request which it answers. It is zero if no request was answered.
func (v *view) reportedAfter(n *cluster.Node) time.Time {
	if n.Report == nil || n.Report.Answered == 0 {
		return time.Time{}
	}
	requested := v.past(time.Unix(n.Report.Answered, 0))
	if requested.IsZero() && n.Report.ObservedTime != nil { // a controller with a wrong clock requested it
		return v.past(n.Report.ObservedTime.Time)
	}
	return requested
}

// changeSeen is when a controller found that the change of a control plane node was complete: it
// starts a trial then. It is zero if the node was not changed, or that was not found yet.
func (v *view) changeSeen(n *cluster.Node) time.Time {
	if trial := v.trial(n); trial != nil && trial.StartTime != nil {
		return v.past(trial.StartTime.Time)
	}
	return time.Time{}
}

// completed is when the node's agent completed its order, by this clock. Each of these times is at
// most the true one if its clocks are right, so the latest counts: the host's own, the same
// corrected by how far its clock is off, and the time of the order plus the duration of the change,
// which does not depend on a wrong clock.
func (v *view) completed(n *cluster.Node) time.Time {
	status := v.order(n).Status
	if status.CompletionTime == nil {
		return time.Time{}
	}
	last := v.past(status.CompletionTime.Time)
	update := func(at time.Time) {
		if at = v.past(at); at.After(last) {
			last = at
		}
	}
	update(v.byThisClock(n, status.CompletionTime.Time))
	if ordered := v.order(n).Spec.OrderTime; ordered != nil && status.StartTime != nil {
		update(ordered.Add(status.CompletionTime.Sub(status.StartTime.Time)))
	}
	return last
}

// byThisClock is a time of a host's clock, corrected by how far the host reports it to be off.
func (v *view) byThisClock(n *cluster.Node, t time.Time) time.Time {
	if n.Report == nil || n.Report.ClockOffsetMilliseconds == nil {
		return t
	}
	return t.Add(-time.Duration(*n.Report.ClockOffsetMilliseconds) * time.Millisecond)
}
