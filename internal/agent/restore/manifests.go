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
	err := r.recordLink(component)
	if err == nil {
		err = durable.Copy(r.live(component), r.parked(component))
	}
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
	return r.put(component, func(path string) error {
		if _, err := os.Lstat(path); err == nil {
			return nil // only the symlink to it was removed
		}
		return durable.Copy(r.parked(component), path)
	})
}

// link is the record of a manifest that is a symlink.
func (r *Restore) link(component string) string { return r.file("manifests", component+".link") }

// recordLink records that a manifest is a symlink, or that it is none.
func (r *Restore) recordLink(component string) error {
	info, err := os.Lstat(r.live(component))
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return durable.Remove(r.link(component))
	}
	target, err := os.Readlink(r.live(component))
	if err != nil {
		return err
	}
	return durable.Symlink(target, r.link(component), durable.OwnerOf(info))
}

// put writes the manifest of a component, and the symlink to it if it was one. The kubelet sees the
// manifest last.
func (r *Restore) put(component string, write func(path string) error) error {
	info, err := os.Lstat(r.link(component))
	if errors.Is(err, fs.ErrNotExist) {
		return write(r.live(component))
	}
	if err != nil {
		return err
	}
	link, err := os.Readlink(r.link(component))
	if err != nil {
		return err
	}
	target := link
	if !filepath.IsAbs(target) {
		dir, err := filepath.EvalSymlinks(r.Manifests)
		if err != nil {
			return err
		}
		target = filepath.Join(dir, target)
	}
	if target, err = durable.Resolve(target); err != nil {
		return err
	}
	if err := write(target); err != nil {
		return err
	}
	return durable.Symlink(link, r.live(component), durable.OwnerOf(info))
}
