package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/moby/sys/mountinfo"
)

// Clean removes what a killed process left: units, mounts and files. It does nothing during a
// rehearsal of another process.
func (r *Runner) Clean(ctx context.Context) error {
	lock, err := r.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	return r.clean(ctx)
}

func (r *Runner) clean(ctx context.Context) error {
	units, err := r.Units.Names(ctx, prefix)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range units {
		errs = append(errs, r.Units.Stop(ctx, name))
	}
	if err := errors.Join(errs...); err != nil {
		return err // its files are in use
	}
	if _, err := os.Stat(r.Dir); os.IsNotExist(err) {
		return nil
	}
	if err := r.removeData(); err != nil {
		return err
	}
	if err := r.unmountAll(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(r.Dir); err != nil {
		return fmt.Errorf("cannot remove the scratch directory: %w", err)
	}
	return nil
}

// removeData removes everything but the images. It comes first, so that the restored data, which is
// not encrypted, is gone even if an image cannot be unmounted.
func (r *Runner) removeData() error {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return fmt.Errorf("cannot list the scratch directory: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == "images" {
			continue
		}
		if err := os.RemoveAll(r.file(entry.Name())); err != nil {
			return fmt.Errorf("cannot remove the restored data: %w", err)
		}
	}
	return nil
}

// unmountAll unmounts every image, and never lets a mounted one be removed like a directory.
func (r *Runner) unmountAll(ctx context.Context) error {
	entries, err := os.ReadDir(r.file("images"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, entry := range entries {
		if err := r.unmount(ctx, entry.Name()); err != nil {
			return err
		}
	}
	left, err := mountinfo.GetMounts(mountinfo.PrefixFilter(r.Dir))
	if err != nil {
		return fmt.Errorf("cannot read the mounts of the host: %w", err)
	}
	if len(left) > 0 {
		return fmt.Errorf("%s is still mounted", left[0].Mountpoint)
	}
	return nil
}
