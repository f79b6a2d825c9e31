package packages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Install is complete when each package is installed at its file's version and held as before. dpkg
// drops a hold when it installs, so the next call fixes a kill between the two. systemd does not
// know changed units yet: the caller reloads it and restarts services.
func (d deb) Install(ctx context.Context, files []string, opts Options) error {
	archives, release, err := d.start(ctx, files, opts)
	if err != nil {
		return err
	}
	defer release()
	missing, err := d.admitted(ctx, archives, opts)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		args := slices.Concat(safeOptions, []string{"--install"}, pathsOf(missing))
		if err := d.dpkg(ctx, "", args...); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("cannot install %s: %w", text(missing), ctx.Err())
			}
			return d.failed(err, "InstallFailed", "cannot install "+text(missing))
		}
	}
	return d.finish(ctx, archives, opts)
}

// Check waits for another package manager: what it reads meanwhile is neither the old nor the new
// state.
func (d deb) Check(ctx context.Context, files []string, opts Options) error {
	archives, release, err := d.start(ctx, files, opts)
	if err != nil {
		return err
	}
	defer release()
	if !opts.Downgrade { // nothing may block a rollback
		if err := d.checkOthers(ctx, namesOf(archives)); err != nil {
			return err
		}
	}
	_, err = d.admitted(ctx, archives, opts)
	return err
}

// start reads the files and takes the lock.
func (d deb) start(ctx context.Context, files []string, opts Options) (archives []archive, release func(), err error) {
	if err := checkNames(opts.Hold); err != nil {
		return nil, nil, err
	}
	if archives, err = readArchives(ctx, files, readDeb); err != nil {
		return nil, nil, err
	}
	release, err = d.lock(ctx)
	return archives, release, err
}

// finish processes triggers, checks the result and restores holds.
func (d deb) finish(ctx context.Context, archives []archive, opts Options) error {
	if err := d.processTriggers(ctx, namesOf(archives)); err != nil {
		return err
	}
	now, err := d.states(ctx, namesOf(archives)...)
	if err != nil {
		return err
	}
	if left := missing(archives, now); len(left) > 0 {
		return node.HostBroken("NotInstalled", nil,
			"Run `dpkg --audit` on the host and read /var/log/dpkg.log, then run `refit retry`",
			"dpkg reported success, but %s is not installed", text(left))
	}
	var selections strings.Builder
	for _, a := range archives {
		if slices.Contains(opts.Hold, a.name) && now[a.name].want != "hold" {
			fmt.Fprintf(&selections, "%s hold\n", a.name)
		}
	}
	if selections.Len() == 0 {
		return nil
	}
	if err := d.dpkg(ctx, selections.String(), "--set-selections"); err != nil {
		return d.failed(err, "HoldFailed", "cannot hold packages")
	}
	return nil
}
