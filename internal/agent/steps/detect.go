package steps

import (
	"context"
	"os"

	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// HasControlPlane reports whether this is a control plane node. The manifest can be missing after
// an interrupted kubeadm, the kubeconfig of the controller manager stays. That of the administrator
// shows nothing: people copy it to workers.
func HasControlPlane() bool {
	return exists(manifest(kubeadm.APIServer)) || exists(controllerManagerConf)
}

// HasEtcd reports whether an etcd member runs on this host as a static pod.
func HasEtcd() bool { return exists(manifest(kubeadm.Etcd)) }

// EtcdConfig returns how to connect to the etcd member on this host.
func EtcdConfig() (etcd.Config, error) {
	text, err := os.ReadFile(manifest(kubeadm.Etcd))
	if err != nil {
		return etcd.Config{}, err
	}
	return etcd.ConfigFromManifest(text)
}

// ExternalEtcdConfig returns how the API server on this host connects to an external etcd.
func ExternalEtcdConfig() (etcd.Config, error) {
	text, err := os.ReadFile(manifest(kubeadm.APIServer))
	if err != nil {
		return etcd.Config{}, err
	}
	return etcd.ExternalConfigFromManifest(text)
}

// APIServerVersion returns the version in the API server's manifest.
func APIServerVersion() (string, error) {
	text, err := os.ReadFile(manifest(kubeadm.APIServer))
	if err != nil {
		return "", err
	}
	m, err := kubeadm.Parse(text)
	return m.Version(), err
}

// ClusterCA returns the file of the cluster's CA certificate on this host.
func ClusterCA() string {
	kubelet, _ := os.ReadFile(kubeletConfig)
	server, _ := os.ReadFile(manifest(kubeadm.APIServer))
	return kubeadm.ClusterCA(kubelet, server)
}

// certificatesDir returns the directory of kubeadm's certificates on this control plane node.
func certificatesDir() string {
	server, _ := os.ReadFile(manifest(kubeadm.APIServer))
	return kubeadm.CertificatesDir(server)
}

// RunningKubelet returns the version of the running kubelet.
func RunningKubelet(ctx context.Context, systemd Services) (string, error) {
	unit, err := systemd.Unit(ctx, kubeletUnit)
	if err != nil {
		return "", err
	}
	if unit.MainPID == 0 {
		return "", node.Transient("KubeletDown", nil, "Check why the kubelet does not run (`journalctl -u kubelet`)", "the kubelet does not run")
	}
	return runningVersion(ctx, unit.MainPID)
}
