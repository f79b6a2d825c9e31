package steps

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

const (
	// addonsFile lists the installed add-ons: the upgrade must not recreate one that was removed.
	addonsFile = "addons.json"
	// rollbackPackages is the directory of the package files that a rollback installs.
	rollbackPackages = "rollback-packages"
)

// savedPaths returns the manifests that the swaps replace. A file that a step writes in place is
// saved by track.
func savedPaths() []string {
	var paths []string
	for _, component := range kubeadm.Components() {
		paths = append(paths, manifest(component))
	}
	return paths
}

func save(ctx context.Context, h *Host) error {
	if !exists(h.path(inventoryFile)) {
		inv, err := h.takeInventory(ctx)
		if err != nil {
			return err
		}
		if err := h.Effect("inventory", func() error { return h.writeJSON(inventoryFile, inv) }); err != nil {
			return err
		}
	}
	if err := h.Effect("manifests", func() error { return host.Save(h.path("saved"), savedPaths()) }); err != nil {
		return err
	}
	if err := h.prepareRollback(ctx); err != nil {
		return err
	}
	if !h.controlPlane() || exists(h.path(addonsFile)) {
		return nil
	}
	client, err := h.api()
	if err != nil {
		return err
	}
	addons, err := kubeadm.ReadAddons(ctx, client)
	if err != nil {
		return err
	}
	return h.writeJSON(addonsFile, addons)
}

// prepareRollback builds a package file of each installed version.
func (h *Host) prepareRollback(ctx context.Context) error {
	inv, err := h.inventory()
	if err != nil {
		return err
	}
	names := inv.installed()
	if len(names) == 0 {
		return nil
	}
	// A host has one package manager.
	driver := h.driver(inv.Packages[0].Part)
	return h.Effect("rollback-packages", func() error { return driver.Prepare(ctx, h.path(rollbackPackages), names) })
}
