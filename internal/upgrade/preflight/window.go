package preflight

import (
	"fmt"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/calendar"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func windowMissing(v *view) []Finding {
	if v.Spec.Window == "" {
		return nil
	}
	object := "MaintenanceWindow " + v.Spec.Window
	i := slices.IndexFunc(v.s.Windows, func(w cluster.Window) bool { return w.Name == v.Spec.Window })
	if i < 0 {
		return []Finding{{
			Object: object, Message: object + " does not exist, so nothing would be changed",
			Remedy: "Create it, or name another one: --window, or spec.window of the ClusterUpgrade",
		}}
	}
	problem := "it does not open within two years"
	c, err := calendar.New(&v.s.Windows[i].Spec)
	if err != nil {
		problem = err.Error()
	} else if _, found := c.Next(v.Now); found {
		return nil
	}
	return []Finding{{
		Object: object, Message: fmt.Sprintf("%s never opens: %s", object, problem),
		Remedy: "Fix its time zone, openings or blackouts: `kubectl edit maintenancewindow " + v.Spec.Window + "`",
	}}
}
