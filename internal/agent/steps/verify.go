package steps

import (
	"context"
	"errors"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
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
			return node.ManualIntervention("ChangedByOthers", err, "find out who changed it, then refit retry",
				"%s is not what the ClusterRelease brings", f.Path)
		}
	}
	if err := h.verifyPackages(ctx, inv, func(p pkg) string { return p.Will }); err != nil {
		return err
	}
	return h.well(ctx, h.Work.To, h.Work.To)
}

// proveOld ends the way back: the host is well as it was. What is not well yet is looked at again, as long as the step may take.
func proveOld(ctx context.Context, h *Host) error {
	inv, err := h.inventory()
	if err != nil {
		return err
	}
	kubernetes := inv
	kubernetes.Packages = inv.packagesOf(kubeletParts...)
	if err := h.verifyPackages(ctx, kubernetes, func(p pkg) string { return p.Was }); err != nil {
		return err
	}
	server := ""
	if h.controlPlane() {
		// An API server that was taken away for an etcd that stays is nobody else's to bring back.
		if err := h.unswapManifest(kubeadm.APIServer); err != nil && !errors.Is(err, node.ErrKept) {
			return err
		}
		saved, err := h.saved()
		if err != nil {
			return err
		}
		text, err := saved.Read(manifest(kubeadm.APIServer))
		if err != nil {
			return err
		}
		old, err := kubeadm.Parse(text)
		if err != nil {
			return err
		}
		server = old.Version()
	}
	if err := h.well(ctx, server, h.Work.From); err != nil {
		again := *node.FailureOf(err)
		again.Class = refitv1alpha1.FailureTransient
		return &again
	}
	return nil
}

// well asks every part of the host.
func (h *Host) well(ctx context.Context, server, kubelet string) error {
	if h.controlPlane() {
		if err := h.proveAPIServer(ctx, server); err != nil {
			return err
		}
		if err := h.proveControllers(ctx); err != nil {
			return err
		}
	}
	return h.proveKubelet(ctx, kubelet)
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
			return node.ManualIntervention("ChangedByOthers", nil, "find out who changed it, then refit retry",
				"%s is at %q, not at %s", p.Name, installed[p.Name], version)
		}
	}
	problems, err := driver.Verify(ctx, names)
	if err != nil {
		return err
	}
	problems = slices.DeleteFunc(problems, func(p string) bool { return slices.Contains(inv.Problems, p) })
	if len(problems) > 0 {
		return node.ManualIntervention("PackagesDamaged", nil, "reinstall the packages that dpkg --verify names, then refit retry",
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

// PutBack are the digests of what was there before.
func (h *Host) PutBack() map[string]string {
	out := map[string]string{}
	inv, err := h.inventory()
	if err != nil {
		return out
	}
	for _, f := range inv.Files {
		out[f.Path] = f.Was
	}
	return out
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
