package kubeadm

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Kubeadm is one kubeadm program and how it is called.
type Kubeadm struct {
	// Path is the program, absolute.
	Path string
	// Admin is the kubeconfig: /etc/kubernetes/admin.conf on control plane nodes, /etc/kubernetes/kubelet.conf on workers.
	Admin string
	// Dir is a scratch directory of this work. It is made with mode 0700.
	Dir string
	// Patches is the host's directory of kubeadm patches, or empty. kubeadm does not remember it.
	Patches string
	// IgnorePreflight are the preflight errors of kubeadm that the host's owner chose to ignore.
	IgnorePreflight []string
}

// Version is the program's own version: v1.36.3.
func (k Kubeadm) Version(ctx context.Context) (string, error) {
	out, err := k.run(ctx, nil, "version", "--output=short")
	if err != nil {
		return "", k.failed(ctx, "version", out, err)
	}
	version := strings.TrimSpace(out.Stdout)
	if !strings.HasPrefix(version, "v1.") {
		return "", node.HostBroken("KubeadmBroken", nil, "see what "+k.Path+" is: it should be the kubeadm of the release",
			"%s does not say its version", k.Path)
	}
	return version, nil
}

// scratch makes a directory below Dir, empty where it was there before.
func (k Kubeadm) scratch(name string) (string, error) {
	dir := filepath.Join(k.Dir, name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}
