package steps

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/host"
)

// reserve sets room aside. It is given up when the host goes back, and when the work ends.
func reserve(_ context.Context, h *Host) error {
	return h.Effect("reserve", func() error { return host.Reserve(h.Settings.ReserveFile(), h.Settings.ReservedDiskMiB<<20) })
}
