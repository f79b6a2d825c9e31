package steps

import (
	"context"
	"maps"
	"slices"

	"github.com/refit-dev/refit/internal/engine/packages"
)

// lockPackages waits for other package managers, and keeps them out until UnlockPackages. It is
// taken before the first step that uses one: a host must not wait with half of its upgrade done,
// and a call inside a step has too little time to wait.
func lockPackages(ctx context.Context, h *Host) error {
	driver := h.packageManager()
	if driver == nil {
		return nil
	}
	if err := driver.Hold(ctx, h.ReportWait); err != nil {
		return err
	}
	h.ReportWait("") // what follows may wait for something else
	return nil
}

// UnlockPackages lets other package managers run while the agent runs no step.
func (h *Host) UnlockPackages() {
	if driver := h.packageManager(); driver != nil {
		driver.Release()
	}
}

// packageManager returns the package manager that the operation uses, or nil if it replaces plain
// files only. A host has one.
func (h *Host) packageManager() packages.Driver {
	for _, part := range slices.Sorted(maps.Keys(h.Upgrade.Kinds)) {
		if driver := h.driver(part); driver != nil {
			return driver
		}
	}
	return nil
}
