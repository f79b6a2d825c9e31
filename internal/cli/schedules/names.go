package schedules

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/operations"
)

// Names returns the names of all schedules, none if they cannot be read.
func Names(ctx context.Context, c *operations.Cluster) []string {
	list, err := c.Schedules(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for i := range list.Schedules {
		out = append(out, list.Schedules[i].Name)
	}
	return out
}
