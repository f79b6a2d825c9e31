package progress

import (
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/calendar"
)

// NewWindow describes a MaintenanceWindow with its next openings.
func NewWindow(cluster string, w *refitv1alpha1.MaintenanceWindow, openings int, now time.Time) *cliv1alpha1.Window {
	out := &cliv1alpha1.Window{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindWindow, Cluster: cluster, Name: w.Name, TimeZone: w.Spec.TimeZone,
	}
	c, err := calendar.New(&w.Spec)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	_, out.Open = c.At(now)
	out.Blackout = c.Blackout(now)
	for at := now; len(out.Openings) < openings; {
		span, found := c.Next(at)
		if !found {
			break
		}
		at = span.Close
		out.Openings = append(out.Openings, cliv1alpha1.WindowOpening{
			Open: c.Local(span.Open), Close: c.Local(span.Close), Seconds: int64(span.Length() / time.Second),
		})
	}
	if len(out.Openings) == 0 {
		out.Problem = "it does not open within two years"
	}
	return out
}
