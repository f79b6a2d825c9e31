package steps

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/host"
)

// reserve reserves disk space for a rollback. The agent releases it when a rollback starts or the
// operation ends.
func reserve(_ context.Context, h *Host) error {
	return h.Effect("reserve", func() error { return host.Reserve(h.Settings.ReserveFile(), h.Settings.ReservedDiskMiB<<20) })
}
