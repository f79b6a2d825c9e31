package steps

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// addonsFile says which add-ons were there: one that the owner removed is not brought back.
const addonsFile = "addons.json"

// savedPaths are the manifests that the swaps replace. A file that a step writes in place is saved by track, just before.
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
	if err := h.prepareWayBack(ctx); err != nil {
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

// prepareWayBack makes a package file of each installed version.
func (h *Host) prepareWayBack(ctx context.Context) error {
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
	return h.Effect("way-back", func() error { return driver.Prepare(ctx, h.path("back"), names) })
}
