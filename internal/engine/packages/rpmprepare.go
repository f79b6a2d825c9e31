package packages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Prepare repacks the installed packages. It looks for no original: rpm keeps the header of an
// installed package, so that a repacked one differs only in what the operator changed.
func (r rpm) Prepare(ctx context.Context, dir string, names []string) error {
	_, release, err := r.guard().lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	list, err := readList(dir)
	if err != nil {
		return err
	}
	left := unprepared(dir, list, names)
	found, err := r.settledStates(ctx, left...)
	if err != nil {
		return err
	}
	for _, name := range left {
		p := prepared{}
		if i, installed := found[name]; installed {
			p = prepared{Version: i.version, File: fmt.Sprintf("%s-%s.%s.rpm", name, i.version, i.arch)}
			if err := r.keep(ctx, filepath.Join(dir, p.File), i); err != nil {
				return err
			}
		}
		list[name] = p
	}
	return writeList(dir, list)
}

// settledStates returns the installations of packages whose installation was not interrupted.
func (r rpm) settledStates(ctx context.Context, names ...string) (map[string]installation, error) {
	found, interrupted, err := r.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(interrupted)) {
		if err := r.recovered(ctx, name); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// recovered accepts an interrupted package that the operator has installed again since.
func (r rpm) recovered(ctx context.Context, name string) error {
	all, err := r.list(ctx, name)
	if err != nil {
		return err
	}
	if len(all) == 1 {
		changed, err := r.changed(ctx, []string{name})
		if err != nil {
			return err
		}
		if len(changed) == 0 {
			return r.setUnfinished([]string{name}, false)
		}
	}
	return node.HostBroken(HalfInstalled, nil,
		"Run `dnf reinstall PACKAGE` on the host (`rpm --verify PACKAGE` lists damaged files), then run `refit retry`",
		"an installation of package %s was interrupted", name)
}

// keep writes one package file to a path.
func (r rpm) keep(ctx context.Context, path string, i installation) error {
	if r.matches(ctx, path, i) {
		return durable.SyncDir(filepath.Dir(path)) // a kill can precede the first sync
	}
	work, err := os.MkdirTemp(filepath.Dir(path), ".prepare-")
	if err != nil {
		return durable.Explain(err, "create a directory in", filepath.Dir(path))
	}
	defer func() { _ = os.RemoveAll(work) }()
	ready, err := r.repack(ctx, work, i.name)
	if err == nil && !r.matches(ctx, ready, i) {
		err = fmt.Errorf("rpm does not accept the repacked %s", i.name)
	}
	if ctx.Err() != nil {
		return wrap(ctx.Err(), "cannot repack the installed %s", i.name)
	}
	name := i.name
	err = durable.Explain(err, "repack", name)
	if _, known := errors.AsType[*node.Failure](err); known {
		return err // the disk is full or broken
	}
	if err != nil {
		return node.HostBroken("RepackFailed", err,
			"Reinstall the package (`dnf reinstall PACKAGE`), then run `refit retry`; or upgrade without this host: run `refit abandon NODE`",
			"cannot repack the installed package %s", name)
	}
	return durable.Explain(durable.Rename(ready, path), "keep", path)
}

// matches reports whether a file is a package of exactly this name, version and architecture, with
// the right digests.
func (r rpm) matches(ctx context.Context, path string, i installation) bool {
	a, err := r.readArchive(ctx, path)
	if err != nil || a.name != i.name || a.version != i.version || a.arch != i.arch {
		return false
	}
	_, err = r.query(ctx, "--checksig", "--nosignature", "--", path)
	return err == nil
}
