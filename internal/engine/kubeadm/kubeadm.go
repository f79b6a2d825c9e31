package kubeadm

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Kubeadm is a kubeadm binary and the settings for its runs.
type Kubeadm struct {
	// Path is the absolute path of the binary.
	Path string
	// Admin is the kubeconfig: /etc/kubernetes/admin.conf on control plane nodes,
	// /etc/kubernetes/kubelet.conf on workers.
	Admin string
	// Dir is the scratch directory of this operation. It is created with mode 0700.
	Dir string
	// Patches is the directory of kubeadm patches on the host, or empty. kubeadm does not store it.
	Patches string
	// IgnorePreflight are the preflight errors of kubeadm that the settings of the agent ignore.
	IgnorePreflight []string
}

// Version returns the version of the binary, such as v1.36.3.
func (k Kubeadm) Version(ctx context.Context) (string, error) {
	out, err := k.run(ctx, nil, "version", "--output=short")
	if err != nil {
		return "", k.failed(ctx, "version", out, err)
	}
	version := strings.TrimSpace(out.Stdout)
	if !strings.HasPrefix(version, "v1.") {
		return "", node.HostBroken("KubeadmBroken", nil, "Check "+k.Path+": it should be the kubeadm of the ClusterRelease",
			"%s does not print its version", k.Path)
	}
	return version, nil
}

// scratch creates an empty directory below Dir.
func (k Kubeadm) scratch(name string) (string, error) {
	dir := filepath.Join(k.Dir, name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}
