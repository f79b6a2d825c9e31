package steps

import (
	"context"
	"errors"
	"strings"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// verify looks at everything once more, at the end.
func verify(ctx context.Context, h *Host) error {
	inv, err := h.inventory()
	if err != nil {
		return err
	}
	for _, f := range inv.Files {
		if now, err := host.Digest(f.Path); err != nil || now != f.Will {
			return node.NeedsPerson("ChangedByOthers", err, "find out who changed it, then refit retry",
				"%s is not what the Release brings", f.Path)
		}
	}
	if err := h.verifyPackages(ctx, inv, func(p pkg) string { return p.Will }); err != nil {
		return err
	}
	return h.well(ctx, h.Work.To)
}

// proveOld ends the way back: the host is well at the version that it came from.
func proveOld(ctx context.Context, h *Host) error {
	if inv, err := h.inventory(); err == nil {
		kubernetes := inv
		kubernetes.Packages = inv.packagesOf(kubeletParts...)
		if err := h.verifyPackages(ctx, kubernetes, func(p pkg) string { return p.Was }); err != nil {
			return err
		}
	}
	return h.well(ctx, h.Work.From)
}

// well asks every part of the host.
func (h *Host) well(ctx context.Context, version string) error {
	if h.controlPlane() {
		if err := h.proveAPIServer(ctx, version); err != nil {
			return err
		}
		if err := h.proveControllers(ctx); err != nil {
			return err
		}
	}
	return h.proveKubelet(ctx, version)
}

// verifyPackages holds the package manager's own view against what should be there.
func (h *Host) verifyPackages(ctx context.Context, inv inventory, want func(pkg) string) error {
	if len(inv.Packages) == 0 {
		return nil
	}
	driver := h.driver(inv.Packages[0].Part)
	var names []string
	for _, p := range inv.Packages {
		names = append(names, p.Name)
		installed, err := driver.Installed(ctx, p.Name)
		if err != nil {
			return err
		}
		if version := want(p); version != "" && installed[p.Name] != version {
			return node.NeedsPerson("ChangedByOthers", nil, "find out who changed it, then refit retry",
				"%s is at %q, not at %s", p.Name, installed[p.Name], version)
		}
	}
	problems, err := driver.Verify(ctx, names)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return node.NeedsPerson("PackagesDamaged", nil, "reinstall the packages that dpkg --verify names, then refit retry",
			"%s", strings.Join(problems, "; "))
	}
	return nil
}

// Clean removes what was kept for the way back. It is called when nobody can want it any more.
func Clean(h *Host) error {
	inv, err := h.inventory()
	if err != nil {
		inv = inventory{}
	}
	err = nil
	for _, f := range inv.Files {
		err = errors.Join(err, host.Settle(f.Path))
	}
	for _, component := range kubeadm.Components() {
		err = errors.Join(err, host.Settle(manifest(component)))
	}
	return errors.Join(err, host.ReleaseReserve(h.Settings.ReserveFile()))
}

// Installed are the digests of what Refit put on the host, to tell later changes by others.
func (h *Host) Installed() map[string]string {
	out := map[string]string{}
	inv, err := h.inventory()
	if err != nil {
		return out
	}
	for _, f := range inv.Files {
		out[f.Path] = f.Will
	}
	return out
}
