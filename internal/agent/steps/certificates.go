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
	onDisk, err := ManifestsOnDisk()
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

// repairCertificates finishes an interrupted renewal. It rolls no certificate back: a renewed one
// has the same CA and works with the previous version, and the previous one may have expired since.
func repairCertificates(ctx context.Context, h *Host) error {
	config, err := h.clusterConfig()
	if err != nil {
		return err
	}
	saved, err := h.saved()
	if err != nil {
		return err
	}
	// The live manifest may be missing during a swap.
	server, err := saved.Read(manifest(kubeadm.APIServer))
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

// minValidity is how long a certificate must still be valid to be restored.
const minValidity = 24 * time.Hour

const expired = "the client certificate in the previous file has expired or expires within 24 h"

// expiresSoon reports whether the client certificate of a kubeconfig is too old to be restored.
func expiresSoon(kubeconfig []byte, now time.Time) bool {
	certificate := kubeadm.EmbeddedCertificate(kubeconfig)
	return certificate != nil && certificate.NotAfter.Before(now.Add(minValidity))
}
