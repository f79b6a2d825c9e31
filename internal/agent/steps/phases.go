package steps

import (
	"context"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// phase runs one phase of the target's kubeadm. Each of them can be run again.
func phase(name string) func(context.Context, *Host) error {
	return func(ctx context.Context, h *Host) error { return h.runPhase(ctx, name, nil) }
}

func (h *Host) runPhase(ctx context.Context, name string, skip []string) error {
	if err := h.tools(ctx); err != nil {
		return err
	}
	return h.Effect("kubeadm", func() error {
		_, err := h.kubeadm().RunPhase(ctx, kubeadm.CommandOf(h.Work.Role), name, h.Work.To, skip)
		return err
	})
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
	// kubeadm tells from the mirror pods which API servers are old; one that lags behind would let it go ahead too early.
	text, err := os.ReadFile(manifest(kubeadm.APIServer))
	if err != nil {
		return err
	}
	if err := kubeadm.WaitMirror(ctx, client, h.Work.NodeName, text); err != nil {
		return err
	}
	return h.runPhase(ctx, "addon", addons.Skip())
}

// restoreObjects puts back what kubeadm's phases wrote into the cluster. It comes last on the way back, when an API server is there again.
func restoreObjects(ctx context.Context, h *Host) error {
	client, err := h.api()
	if err != nil {
		return err
	}
	return h.Effect("restore-objects", func() error { return kubeadm.RestoreObjects(ctx, client, h.path("objects")) })
}

func restoreKubeconfigs(_ context.Context, h *Host) error {
	return h.restore("kubeconfigs", kubeletConf)
}

func restoreKubeletConfig(_ context.Context, h *Host) error {
	return h.restore("kubelet-config", kubeletConfig, kubeletDir+"/instance-config.yaml", kubeletFlags)
}

// renewCertificates renews the set that kubeadm's own upgrade renews.
func renewCertificates(ctx context.Context, h *Host) error {
	config, err := h.clusterConfig()
	if err != nil {
		return err
	}
	onDisk, err := manifestsOnDisk()
	if err != nil {
		return err
	}
	in, err := h.renderInput(config, onDisk)
	if err != nil {
		return err
	}
	return h.Effect("renew", func() error {
		return h.kubeadm().RenewCertificates(ctx, in, kubeadm.UpgradeCertificates(config.ExternalEtcd))
	})
}

func restoreCertificates(_ context.Context, h *Host) error {
	paths := []string{pkiDir}
	for _, name := range []string{"admin.conf", "super-admin.conf", "controller-manager.conf", "scheduler.conf"} {
		if path := filepath.Join(kubernetesDir, name); exists(path) { // super-admin.conf is on the first node only
			paths = append(paths, path)
		}
	}
	return h.restore("certificates", paths...)
}
