package steps

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/packages"
)

// logLost logs the attributes of the previous file that a swapped one does not have. They do not
// fail the step: if the new binary cannot run without them, the next step proves it.
func (h *Host) logLost(path string) {
	lost, err := host.LostAttributes(path)
	if err != nil || len(lost) > 0 {
		h.Log.Warn("the new file lacks attributes of the previous one", "file", path, "lost", lost, "error", err)
	}
}

// reportLost reports the attributes of saved files that the rollback could not restore.
func (h *Host) reportLost(saved *host.Saved, paths []string) {
	for _, path := range paths {
		state, err := saved.State(path)
		if err != nil || state != host.Old {
			continue
		}
		if lost, err := saved.LostAttributes(path); err == nil && len(lost) > 0 {
			h.reportKept(path + ": not restored: " + strings.Join(lost, ", "))
		}
	}
}

// packageXattrs returns the extended attributes of the files of packages.
func packageXattrs(ctx context.Context, driver packages.Driver, names []string) (map[string]durable.Xattrs, error) {
	paths, err := driver.Files(ctx, names...)
	if err != nil {
		return nil, err
	}
	found := map[string]durable.Xattrs{}
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue // It is excluded at installation, or has no content.
		}
		attributes, err := durable.AttributesOf(path)
		if err != nil {
			return nil, durable.Explain(err, "read the attributes of", path)
		}
		if len(attributes.Xattrs) > 0 {
			found[path] = attributes.Xattrs
		}
	}
	return found, nil
}

// restoreXattrs gives the files of packages the extended attributes from before the operation. Mode
// and owner are those of the package, or of dpkg-statoverride. So are the capabilities of a new
// version, which can need others; a rollback restores those of the previous one.
func (h *Host) restoreXattrs(want map[string]durable.Xattrs, rollback bool) error {
	for path, xattrs := range want {
		if !rollback {
			xattrs = maps.Clone(xattrs)
			delete(xattrs, durable.CapabilityXattr)
		}
		now, err := durable.AttributesOf(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // The other version of the package does not have it.
		}
		before := durable.Attributes{Mode: now.Mode, Owner: now.Owner, Xattrs: xattrs}
		if err == nil && len(before.Missing(now)) > 0 {
			err = durable.SetAttributes(path, before)
		}
		if err != nil {
			return durable.Explain(err, "restore the attributes of", path)
		}
	}
	return nil
}
