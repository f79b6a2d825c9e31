package report

import (
	"os"
	"path/filepath"
)

// Paths of kubeadm and the kubelet.
const (
	kubernetesDir = "/etc/kubernetes"
	manifestsDir  = "/etc/kubernetes/manifests"
	adminConf     = "/etc/kubernetes/admin.conf"
	managerConf   = "/etc/kubernetes/controller-manager.conf"
	kubeletDir    = "/var/lib/kubelet"
	kubeletConfig = "/var/lib/kubelet/config.yaml"
	etcdDir       = "/var/lib/etcd"
	containerdDir = "/var/lib/containerd"
	cniDir        = "/opt/cni/bin"

	keepalivedConf = "/etc/keepalived/keepalived.conf"
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

// controlPlane reports whether this is a control plane host. A missing manifest does not make it a
// worker, and a copy of the administrator's kubeconfig does not make a worker one.
func (s *Sources) controlPlane() bool {
	return s.ControlPlane || s.exists(managerConf) || s.exists(manifestsDir+"/kube-apiserver.yaml")
}
