package steps

import (
	"context"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// addonsFile says which add-ons were there: one that the owner removed is not brought back.
const addonsFile = "addons.json"

// savedPaths are what goes back with a host. Never the kubelet's own certificates, which rotate.
func savedPaths() []string {
	paths := []string{
		manifestsDir, pkiDir,
		kubeletConfig, kubeletDir + "/instance-config.yaml", kubeletFlags, "/etc/default/kubelet",
		"/etc/systemd/system/kubelet.service.d", "/usr/lib/systemd/system/kubelet.service.d",
		containerdTOM,
	}
	confs, _ := filepath.Glob(kubernetesDir + "/*.conf") // fails only for a bad pattern
	return append(paths, confs...)
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
	if err := h.Effect("configuration", func() error { return host.Save(h.path("saved"), savedPaths()) }); err != nil {
		return err
	}
	if err := h.prepareWayBack(ctx); err != nil {
		return err
	}
	if !h.controlPlane() {
		return nil
	}
	client, err := h.api()
	if err != nil {
		return err
	}
	if !exists(h.path(addonsFile)) {
		addons, err := kubeadm.ReadAddons(ctx, client)
		if err != nil {
			return err
		}
		if err := h.writeJSON(addonsFile, addons); err != nil {
			return err
		}
	}
	return h.Effect("objects", func() error { return kubeadm.SaveObjects(ctx, client, h.path("objects")) })
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

func (h *Host) saved() (*host.Saved, error) { return host.LoadSaved(h.path("saved")) }

// restore puts saved files back, those of them that differ.
func (h *Host) restore(name string, paths ...string) error {
	saved, err := h.saved()
	if err != nil {
		return err
	}
	differ, err := saved.Changed(paths...)
	if err != nil || len(differ) == 0 {
		return err
	}
	return h.Effect("restore-"+name, func() error { return saved.Restore(paths...) })
}
