package kubeadm

import (
	"context"
	"os"
	"slices"
)

// RepairCertificates finishes a renewal that was cut off. A certificate whose key does not fit it,
// or a torn kubeconfig, is renewed again; a whole one is left alone, whether it was renewed or not.
// No former certificate is restored: it may have expired, and the renewed one is of the same CA and
// works with every version.
func (k Kubeadm) RepairCertificates(ctx context.Context, in RenderInput, names []string) error {
	torn, err := k.torn(in.Config.CertificatesDir, kubernetesDir, names)
	if err != nil || len(torn) == 0 {
		return err
	}
	config, err := k.WriteConfig(in)
	if err != nil {
		return err
	}
	return k.renewAll(ctx, config, in.Config.CertificatesDir, kubernetesDir, torn)
}

// torn are the certificates that this operation began to renew and that cannot be used now.
func (k Kubeadm) torn(pki, kubernetes string, names []string) ([]certificate, error) {
	wanted, err := renewable(pki, names)
	return slices.DeleteFunc(wanted, func(c certificate) bool {
		_, untouched := os.Stat(k.kept(c.name))
		return untouched != nil || c.check(c.path(pki, kubernetes)) == nil
	}), err
}
