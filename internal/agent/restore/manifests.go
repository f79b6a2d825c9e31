package restore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// live is the path of a component's manifest, and parked where it is while the component is
// stopped.
func (r *Restore) live(component string) string {
	return filepath.Join(r.Manifests, component+".yaml")
}

func (r *Restore) parked(component string) string { return r.file("manifests", component+".yaml") }

// manifest returns the manifest of a component, wherever it is.
func (r *Restore) manifest(component string) ([]byte, error) {
	text, err := os.ReadFile(r.live(component))
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile(r.parked(component))
	}
	return text, err
}

// park moves the manifest of a component away, so that the kubelet stops it, and waits until it has
// ended. The copy, which keeps the attributes, is written first: a manifest is never without one.
func (r *Restore) park(ctx context.Context, component string) error {
	err := durable.Copy(r.live(component), r.parked(component))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(r.parked(component)); err != nil {
			return node.ManualIntervention("ManifestMissing", err, "Write "+r.live(component)+" again: the agent keeps copies in /var/lib/refit/manifests",
				"the manifest of %s is missing", component)
		}
	case err != nil:
		return err
	default:
		r.point(component + "/copied")
		if err := durable.Remove(r.live(component)); err != nil {
			return err
		}
	}
	r.point(component + "/removed")
	return r.Machine.AwaitStopped(ctx, component)
}

// unpark moves the manifest of a component back. One that is there already stays as it is.
func (r *Restore) unpark(component string) error {
	if _, err := os.Lstat(r.live(component)); err == nil {
		return nil
	}
	return durable.Copy(r.parked(component), r.live(component))
}
