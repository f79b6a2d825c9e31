package steps

import (
	"context"

	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// reviewKubelets finds the kubelets that the rollback of this API server would make too new for it.
// Those of workers refuse the rollback. Those of other control plane nodes are rolled back next, as
// they were upgraded before the last API server. Without the API, which the rollback may have to
// repair, it warns.
func (h *Host) reviewKubelets(ctx context.Context, client kubernetes.Interface, r *Review) {
	server, err := h.previousAPIServer()
	var newer kubeadm.Newer
	if err == nil {
		newer, err = kubeadm.NewerKubelets(ctx, client, h.Upgrade.NodeName, server)
	}
	if err != nil {
		r.warn("cannot check that no worker has a newer kubelet than the previous API server, which is not supported: %v", err)
		return
	}
	r.newer = newer.Workers
	if len(newer.ControlPlane) > 0 {
		r.warn("the API server of this node returns to %s, and kubelets must not be newer: roll back these control plane nodes next: %s",
			server, kubeadm.Some(newer.ControlPlane))
	}
}

// previousAPIServer returns the version of the API server before the operation.
func (h *Host) previousAPIServer() (string, error) {
	saved, err := h.saved()
	if err != nil {
		return "", err
	}
	text, err := saved.Read(manifest(kubeadm.APIServer))
	if err != nil {
		return "", err
	}
	old, err := kubeadm.Parse(text)
	return old.Version(), err
}
