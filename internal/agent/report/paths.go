package report

import (
	"os"
	"path/filepath"
)

// Where kubeadm and the kubelet keep things.
const (
	kubernetesDir = "/etc/kubernetes"
	pkiDir        = "/etc/kubernetes/pki"
	manifestsDir  = "/etc/kubernetes/manifests"
	adminConf     = "/etc/kubernetes/admin.conf"
	kubeletDir    = "/var/lib/kubelet"
	kubeletConfig = "/var/lib/kubelet/config.yaml"
	etcdDir       = "/var/lib/etcd"
	containerdDir = "/var/lib/containerd"
	cniDir        = "/opt/cni/bin"
)

func (s *Sources) path(name string) string {
	if s.root == "" {
		return name
	}
	return filepath.Join(s.root, name)
}

func (s *Sources) exists(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

// controlPlane says whether this host is one of the control plane: a manifest that was lost does not make it a worker.
func (s *Sources) controlPlane() bool {
	return s.ControlPlane || s.exists(adminConf) || s.exists(manifestsDir+"/kube-apiserver.yaml")
}
