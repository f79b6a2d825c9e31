package backup

import (
	"slices"
	"strings"
)

// KubeadmTemp is where kubeadm keeps copies of manifests and of etcd's data, relative to the root
// of a host. A backup does not contain it.
const KubeadmTemp = "etc/kubernetes/tmp"

// HostPaths are the files and directories of a host that a backup contains.
type HostPaths []string // absolute

// Contain reports whether a backup contains a file.
func (p HostPaths) Contain(path string) bool {
	if path == "/"+KubeadmTemp || strings.HasPrefix(path, "/"+KubeadmTemp+"/") {
		return false
	}
	return slices.ContainsFunc(p, func(of string) bool { return path == of || strings.HasPrefix(path, of+"/") })
}
