package steps

import (
	"context"
	"os"
	"time"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// phase runs a phase of the target's kubeadm. All phases are idempotent.
func phase(name string) func(context.Context, *Host) error {
	return func(ctx context.Context, h *Host) error { return h.runPhase(ctx, name, nil) }
}

func (h *Host) runPhase(ctx context.Context, name string, skip []string) error {
	if err := h.tools(ctx); err != nil {
		return err
	}
	return h.track(kubeadm.PhaseFiles(name), func() error {
		return h.Effect("kubeadm", func() error {
			_, err := h.kubeadm().RunPhase(ctx, kubeadm.CommandOf(h.Upgrade.Role), name, h.Upgrade.To, skip)
			return err
		})
	})
}

func (h *Host) runClusterPhase(ctx context.Context, name string, skip []string) error {
	client, err := h.api()
	if err != nil {
		return err
	}
	return kubeadm.TrackObjects(ctx, client, h.path("objects"), name, func() error { return h.runPhase(ctx, name, skip) })
}

func upgradeAddons(ctx context.Context, h *Host) error {
	var addons kubeadm.Addons
	if err := h.readJSON(addonsFile, &addons); err != nil {
		return err
	}
	client, err := h.api()
	if err != nil {
		return err
	}
	// kubeadm derives the versions of the API servers from their mirror pods. With a stale one it
	// would upgrade the add-ons too early.
	text, err := os.ReadFile(manifest(kubeadm.APIServer))
	if err != nil {
		return err
	}
	if err := kubeadm.WaitMirror(ctx, client, h.Upgrade.NodeName, text); err != nil {
		return err
	}
	return h.runClusterPhase(ctx, kubeadm.PhaseAddon, addons.Skip())
}

// restoreObjects restores the objects that a phase wrote. It runs last, when an API server is ready
// again, and keeps objects that other nodes rely on.
func restoreObjects(phase string) func(context.Context, *Host) error {
	return func(ctx context.Context, h *Host) error {
		client, err := h.api()
		if err != nil {
			return err
		}
		relying, err := kubeadm.Relying(ctx, client, h.Upgrade.NodeName, h.Upgrade.To)
		if err != nil {
			return err
		}
		var kept []string
		err = h.Effect("restore-objects", func() (err error) {
			kept, err = kubeadm.RestoreObjects(ctx, client, h.path("objects"), phase, relying)
			return err
		})
		for _, what := range kept {
			h.reportKept(what)
		}
		if err == nil && len(kept) > 0 {
			return node.ErrKept
		}
		return err
	}
}

func restoreKubeconfig(_ context.Context, h *Host) error { return h.rollbackKubeconfig(kubeletConf) }

// rollbackKubeconfig restores the kubelet's kubeconfig, unless its certificate has expired since.
func (h *Host) rollbackKubeconfig(path string) error {
	saved, err := h.saved()
	if err != nil {
		return err
	}
	state, err := saved.State(path)
	if err != nil {
		return err
	}
	if text, err := saved.Read(path); state == host.New && err == nil && expiresSoon(text, time.Now()) {
		h.reportKept(path + ": " + expired)
		return node.ErrKept
	}
	return h.rollback("kubeconfig", path)
}

func restoreKubeletConfig(_ context.Context, h *Host) error {
	return h.rollback("kubelet-config", kubeadm.PhaseFiles(kubeadm.PhaseKubeletConfig)...)
}
