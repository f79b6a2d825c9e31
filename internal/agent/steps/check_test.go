package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// controlPlaneWith returns a host with the agent's copies of all manifests, and a manifest
// directory without those of some components.
func controlPlaneWith(t *testing.T, config string, missing ...string) (h *Host, dir string) {
	t.Helper()
	h, dir = testHost(t), t.TempDir()
	h.Settings.StateDir = t.TempDir()
	for _, component := range kubeadm.Components() {
		put(t, h.knownGood(component), "old "+component)
		put(t, filepath.Join(dir, component+".yaml"), component)
	}
	for _, component := range missing {
		must(t, os.Remove(filepath.Join(dir, component+".yaml")))
	}
	must(t, h.writeJSON(clusterConfigFile, map[string]string{"ClusterConfiguration": config}))
	return h, dir
}

const (
	stackedEtcd  = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\netcd: {local: {dataDir: /var/lib/etcd}}\n"
	externalEtcd = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n" +
		"etcd: {external: {endpoints: [https://etcd:2379]}}\n"
)

// The owner may have removed a manifest on purpose. An etcd member that starts again on old data
// can destroy a cluster.
func TestMissingManifestIsNotRestored(t *testing.T) {
	for _, component := range []string{kubeadm.Scheduler, kubeadm.APIServer, kubeadm.Etcd} {
		t.Run(component, func(t *testing.T) {
			h, dir := controlPlaneWith(t, stackedEtcd, component)
			err := h.checkManifestsIn(t.Context(), dir)
			path := filepath.Join(dir, component+".yaml")
			if exists(path) {
				t.Errorf("%s was restored", path)
			}
			if f := node.FailureOf(err); err == nil || f.Reason != "ManifestMissing" || !strings.Contains(f.Remedy, h.knownGood(component)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestHostOfAClusterThatMovedToExternalEtcdNeedsNoEtcdManifest(t *testing.T) {
	h, dir := controlPlaneWith(t, externalEtcd, kubeadm.Etcd)
	must(t, h.checkManifestsIn(t.Context(), dir))
	if exists(filepath.Join(dir, "etcd.yaml")) {
		t.Error("the manifest of etcd was restored")
	}
}

func TestHostThatNeverRanEtcdNeedsNoEtcdManifest(t *testing.T) {
	h, dir := controlPlaneWith(t, stackedEtcd, kubeadm.Etcd)
	must(t, os.Remove(h.knownGood(kubeadm.Etcd)))
	must(t, h.checkManifestsIn(t.Context(), dir))
}
