package steps

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// install installs the new files of parts, by swap or by package.
func (h *Host) install(ctx context.Context, parts ...refitv1alpha1.Part) error {
	inv, err := h.inventory()
	if err != nil {
		return err
	}
	for _, f := range inv.filesOf(parts...) {
		kept, err := f.keptByOthers()
		if err != nil {
			return err
		}
		if kept {
			h.Log.Info("keeping a file that other software has written", "file", f.Path)
			continue
		}
		if err := h.Effect("swap-"+f.Name, func() error { return host.Swap(f.Path, f.Was, f.Will) }); err != nil {
			return err
		}
		h.logLost(f.Path)
	}
	var debs []string
	for _, p := range inv.packagesOf(parts...) {
		path, err := h.packageFile(ctx, p)
		if err != nil {
			return err
		}
		debs = append(debs, path)
	}
	return h.installPackages(ctx, inv, parts, debs, packages.Options{})
}

// installed reports whether install has changed anything.
func (h *Host) installed(ctx context.Context, parts ...refitv1alpha1.Part) (bool, error) {
	inv, err := h.inventory()
	if err != nil {
		return false, err
	}
	for _, f := range inv.filesOf(parts...) {
		state, err := host.SwapStateOf(f.Path, f.Was, f.Will)
		if err != nil || (state == host.New && f.Was != f.Will) {
			return true, err
		}
	}
	for _, p := range inv.packagesOf(parts...) {
		now, err := h.driver(p.Part).Installed(ctx, p.Name)
		if err != nil || now[p.Name] != p.Was {
			return true, err
		}
	}
	return false, nil
}

// reinstall restores the old files of parts.
func (h *Host) reinstall(ctx context.Context, parts ...refitv1alpha1.Part) error {
	inv, err := h.inventory()
	if err != nil {
		return err
	}
	for _, f := range inv.filesOf(parts...) {
		if err := h.undoSwap(f.Name, f.Path, f.Was, f.Will); err != nil && !errors.Is(err, node.ErrKept) {
			return err
		}
	}
	var names []string
	for _, p := range inv.packagesOf(parts...) {
		if p.Was != "" { // removing a new package could remove others that depend on it
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	debs, err := packages.Prepared(h.path(rollbackPackages), names...)
	if err != nil {
		return err
	}
	return h.installPackages(ctx, inv, parts, debs, packages.Options{Downgrade: true})
}

// undoSwap restores a file, unless it was changed since.
func (h *Host) undoSwap(name, path, was, will string) error {
	err := h.Effect("undo-"+name, func() error { return host.UndoSwap(path, was, will) })
	if errors.Is(err, node.ErrKept) {
		h.Log.Warn("keeping a file that was changed since the operation", "file", path)
	}
	return err
}

// packageFile links a package from the store to a name that package managers accept.
func (h *Host) packageFile(ctx context.Context, p pkg) (string, error) {
	path := h.path("packages", p.Name+"_"+strings.ReplaceAll(p.Will, ":", "%3a")+"."+strings.ToLower(string(h.Upgrade.Kinds[p.Part])))
	if now, err := host.Digest(path); err == nil && now == p.Blob {
		return path, nil
	}
	from, err := h.stored(ctx, p.Blob)
	if err != nil {
		return "", err
	}
	if err := durable.MkdirAll(h.path("packages"), 0o700); err != nil {
		return "", err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, os.Link(from, path)
}

func (h *Host) installPackages(ctx context.Context, inv inventory, parts []refitv1alpha1.Part, files []string, opts packages.Options) error {
	if len(files) == 0 {
		return nil
	}
	driver := h.driver(inv.packagesOf(parts...)[0].Part)
	var names []string
	for _, p := range inv.packagesOf(parts...) {
		names = append(names, p.Name)
		if slices.Contains(inv.Held, p.Name) {
			opts.Hold = append(opts.Hold, p.Name)
		}
	}
	return h.Effect("packages", func() error {
		// A half-installed package is installed again from its file.
		err := driver.Configure(ctx, names)
		if f, ok := errors.AsType[*node.Failure](err); err != nil && (!ok || f.Reason != packages.HalfInstalled) {
			return err
		}
		if err := driver.Install(ctx, files, opts); err != nil {
			return err
		}
		return h.restoreXattrs(inv.Xattrs, opts.Downgrade)
	})
}

func swapRunc(ctx context.Context, h *Host) error { return h.install(ctx, refitv1alpha1.PartRunc) }

func undoRunc(ctx context.Context, h *Host) error { return h.reinstall(ctx, refitv1alpha1.PartRunc) }
func swapCNI(ctx context.Context, h *Host) error  { return h.install(ctx, refitv1alpha1.PartCNI) }
func undoCNI(ctx context.Context, h *Host) error  { return h.reinstall(ctx, refitv1alpha1.PartCNI) }
