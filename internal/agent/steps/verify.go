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

// verify checks the whole host at the end of an upgrade.
func verify(ctx context.Context, h *Host) error {
	inv, err := h.inventory()
	if err != nil {
		return err
	}
	if err := h.verifyFiles(inv); err != nil {
		return err
	}
	if err := h.verifyPackages(ctx, inv, func(p pkg) string { return p.Will }); err != nil {
		return err
	}
	return h.checkHealth(ctx, h.Upgrade.To, h.Upgrade.To)
}

// verifyRollback checks the host at the end of a rollback. A failure is transient, so that the
// agent repeats the check until the step's timeout.
func verifyRollback(ctx context.Context, h *Host) error {
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
		// If etcd is kept, no other undo restores an API server that was stopped for it.
		if err := h.undoManifest(kubeadm.APIServer); err != nil && !errors.Is(err, node.ErrKept) {
			return err
		}
		if server, err = h.previousAPIServer(); err != nil {
			return err
		}
	}
	if err := h.checkHealth(ctx, server, h.Upgrade.From); err != nil {
		failure := *node.FailureOf(err)
		failure.Class = refitv1alpha1.FailureTransient
		return &failure
	}
	return nil
}

// checkHealth waits until every component of the host is healthy.
func (h *Host) checkHealth(ctx context.Context, server, kubelet string) error {
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

func (h *Host) verifyFiles(inv inventory) error {
	for _, f := range inv.Files {
		if right, err := f.right(); err != nil || !right {
			return node.ManualIntervention("ChangedByOthers", err, "Find out what changed it, then run `refit retry`",
				"%s is not the file of the ClusterRelease", f.Path)
		}
	}
	return nil
}

// verifyPackages compares the installed packages with the expected versions.
func (h *Host) verifyPackages(ctx context.Context, inv inventory, want func(pkg) string) error {
	if len(inv.Packages) == 0 {
		return nil
	}
	driver := h.driver(inv.Packages[0].Part)
	var names []string
	for _, p := range inv.Packages {
		if !shared(p.Part) {
			names = append(names, p.Name)
		}
		installed, err := driver.Installed(ctx, p.Name)
		if err != nil {
			return err
		}
		if version := want(p); version != "" && installed[p.Name] != version {
			return node.ManualIntervention("ChangedByOthers", nil, "Find out what changed it, then run `refit retry`",
				"package %s has version %q, not %s", p.Name, installed[p.Name], version)
		}
	}
	problems, err := driver.Verify(ctx, names)
	if err != nil {
		return err
	}
	problems = slices.DeleteFunc(problems, func(p string) bool { return slices.Contains(inv.Problems, p) })
	if len(problems) > 0 {
		return node.ManualIntervention("PackagesDamaged", nil,
			"Reinstall the packages that `dpkg --verify` or `rpm --verify PACKAGE` lists, then run `refit retry`",
			"files of packages were changed or removed: %s", strings.Join(problems, "; "))
	}
	return nil
}

// Clean removes the files that were kept for a rollback.
func Clean(h *Host) error {
	inv, err := h.inventory()
	if err != nil {
		inv = inventory{}
	}
	err = nil
	for _, f := range inv.Files {
		err = errors.Join(err, host.DiscardPrevious(f.Path))
	}
	for _, component := range kubeadm.Components() {
		err = errors.Join(err, host.DiscardPrevious(manifest(component)))
	}
	return errors.Join(err, ReleaseReserve(h.Settings))
}

// PreviousDigests returns the digests of the binaries from before the operation.
func (h *Host) PreviousDigests() map[string]string {
	out := map[string]string{}
	inv, err := h.inventory()
	if err != nil {
		return out
	}
	for _, f := range inv.Files {
		if !shared(f.Part) {
			out[f.Path] = f.Was
		}
	}
	return out
}

// InstalledDigests returns the digests of the binaries that Refit installed, to detect later
// changes.
func (h *Host) InstalledDigests() map[string]string {
	out := map[string]string{}
	inv, err := h.inventory()
	if err != nil {
		return out
	}
	for _, f := range inv.Files {
		if !shared(f.Part) {
			out[f.Path] = f.Will
		}
	}
	return out
}
