package text

import (
	"fmt"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Window renders a window: its next openings on its local clock.
func Window(w *cliv1alpha1.Window) string {
	var out strings.Builder
	state := "closed"
	switch {
	case w.Problem != "":
		state = "never open: " + w.Problem
	case w.Open:
		state = "open"
	case w.Blackout != "":
		state += " for the blackout " + w.Blackout
	}
	fmt.Fprintf(&out, "MaintenanceWindow %s of %s (%s): %s\n", Clean(w.Name), Clean(w.Cluster), Clean(w.TimeZone), Clean(state))
	if len(w.Openings) > 0 {
		out.WriteByte('\n')
	}
	for i := range w.Openings {
		o := &w.Openings[i]
		fmt.Fprintf(&out, "  %s  to  %s  %s\n", startTime(o.Open), startTime(o.Close), (time.Duration(o.Seconds) * time.Second).String())
	}
	return out.String()
}
