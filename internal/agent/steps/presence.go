package steps

import (
	"context"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// HasControlPlane says whether a control plane runs on this host as static pods, or did: a manifest can be lost, the administrator's kubeconfig stays.
func HasControlPlane() bool { return exists(manifest(kubeadm.APIServer)) || exists(adminConf) }

// HasEtcd says whether a member of etcd runs on this host as a static pod, or did when all was well.
func HasEtcd(stateDir string) bool {
	return exists(manifest(kubeadm.Etcd)) || exists(filepath.Join(stateDir, "manifests", kubeadm.Etcd+".yaml"))
}

// APIServerVersion is that of the manifest on the disk.
func APIServerVersion() (string, error) {
	text, err := os.ReadFile(manifest(kubeadm.APIServer))
	if err != nil {
		return "", err
	}
	m, err := kubeadm.Parse(text)
	return m.Version(), err
}

// RunningKubelet is the version of the kubelet that runs.
func RunningKubelet(ctx context.Context, systemd *host.Systemd) (string, error) {
	unit, err := systemd.Unit(ctx, kubeletUnit)
	if err != nil {
		return "", err
	}
	if unit.MainPID == 0 {
		return "", node.Transient("KubeletDown", nil, "see why the kubelet does not run (journalctl -u kubelet)", "the kubelet of this host does not run")
	}
	return runningVersion(ctx, unit.MainPID)
}
