package steps

import (
	"context"
	"time"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

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

// repairCertificates finishes a renewal that was cut off. No certificate is rolled back: a renewed
// one is of the same CA and works with the former version, and the one before may have expired by
// now.
func repairCertificates(ctx context.Context, h *Host) error {
	config, err := h.clusterConfig()
	if err != nil {
		return err
	}
	saved, err := h.saved()
	if err != nil {
		return err
	}
	server, err := saved.Read(manifest(kubeadm.APIServer)) // The one in use may be missing just now.
	if err != nil {
		return err
	}
	in, err := h.renderInput(config, map[string][]byte{kubeadm.APIServer: server})
	if err != nil {
		return err
	}
	err = h.Effect("repair", func() error {
		return h.kubeadm().RepairCertificates(ctx, in, kubeadm.UpgradeCertificates(config.ExternalEtcd))
	})
	if err != nil {
		return err
	}
	return node.ErrKept
}

// leastValidity is how long a certificate must still be valid to be restored.
const leastValidity = 24 * time.Hour

const expired = "the client certificate in the former one has expired, or expires within 24 h"

// expires reports whether a kubeconfig carries a certificate that must not be restored any more.
func expires(kubeconfig []byte, now time.Time) bool {
	certificate := kubeadm.EmbeddedCertificate(kubeconfig)
	return certificate != nil && certificate.NotAfter.Before(now.Add(leastValidity))
}
