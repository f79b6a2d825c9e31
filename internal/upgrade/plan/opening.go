package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/calendar"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// opening is the MaintenanceWindow of an operation at the time of a decision.
type opening struct {
	name string
	spec *refitv1alpha1.MaintenanceWindowSpec // nil: the operation has no window, or it is unusable
	// unusable is why the window never opens as it is, empty if it does.
	unusable string
	// span is the present or next one, in which the window is open. override means that openUntil
	// has opened it.
	span     calendar.Span
	open     bool
	override bool
	// closed is when it closed, zero if that is not known; blackout is the one in progress.
	closed   time.Time
	blackout string
	calendar *calendar.Calendar
}

// longestOverride is how long before its end openUntil opens a window.
const longestOverride = 24 * time.Hour

// openingAt returns the window of an operation, nil if it has none.
func openingAt(spec *refitv1alpha1.ClusterUpgradeSpec, windows []cluster.Window, now time.Time) *opening {
	if spec.Window == "" {
		return nil
	}
	o := &opening{name: spec.Window, unusable: "it does not exist"}
	for i := range windows {
		if windows[i].Name == spec.Window {
			o.spec, o.unusable = &windows[i].Spec, ""
		}
	}
	if o.spec != nil {
		o.look(now)
	}
	if until := spec.OpenUntil; until != nil && now.Before(until.Time) && !now.Before(until.Add(-longestOverride)) {
		o.override = true
		if o.open && o.span.Close.After(until.Time) {
			return o
		}
		o.span, o.open = calendar.Span{Open: until.Add(-longestOverride), Close: until.Time}, true
	}
	return o
}

// look finds the present or next opening.
func (o *opening) look(now time.Time) {
	c, err := calendar.New(o.spec)
	if err != nil {
		o.unusable = err.Error()
		return
	}
	span, found := c.Next(now)
	if !found {
		o.unusable = "it does not open within two years"
		return
	}
	o.calendar, o.span = c, span
	if o.open = !now.Before(span.Open); o.open {
		return
	}
	o.blackout = c.Blackout(now)
	if last, found := c.Last(now); found {
		o.closed = last.Close
	}
}

// wholeControlPlane reports whether the control plane changes as a whole.
func (o *opening) wholeControlPlane() bool {
	return o.spec != nil && o.spec.ControlPlane != refitv1alpha1.WindowNodeByNode
}

// fits reports whether what takes so long can end before the window closes.
func (o *opening) fits(now time.Time, takes time.Duration) bool {
	return o.open && !now.Add(takes).After(o.span.Close)
}

// longestAhead is the length of the longest of the next openings.
func (o *opening) longestAhead(now time.Time) time.Duration {
	const ahead = 12
	if o.calendar == nil {
		return 0
	}
	longest, at := time.Duration(0), now
	for range ahead {
		span, found := o.calendar.Next(at)
		if !found {
			break
		}
		longest, at = max(longest, span.Length()), span.Close
	}
	return longest
}
