package steps

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// checkManifests refuses a host without a manifest. It restores none: the steps that remove a
// manifest restore it themselves, so the owner has removed this one, or a kubeadm that was killed.
func checkManifests(ctx context.Context, h *Host) error {
	if !h.controlPlane() {
		return nil
	}
	return h.checkManifestsIn(ctx, ManifestsDir)
}

func (h *Host) checkManifestsIn(ctx context.Context, dir string) error {
	for _, component := range kubeadm.Components() {
		path := filepath.Join(dir, component+".yaml")
		if exists(path) {
			continue
		}
		expected, err := h.expects(ctx, component)
		if err != nil {
			return err
		}
		if expected {
			return h.manifestMissing(component, path)
		}
	}
	return nil
}

// expects reports whether a component belongs on this host: etcd does if it ran here and the
// cluster has not moved to external etcd.
func (h *Host) expects(ctx context.Context, component string) (bool, error) {
	if component != kubeadm.Etcd {
		return true, nil
	}
	if !exists(h.knownGood(component)) {
		return false, nil
	}
	config, err := h.readClusterConfig(ctx)
	if err != nil {
		return false, err
	}
	return !config.ExternalEtcd, nil
}

func (h *Host) manifestMissing(component, path string) error {
	copies := kubernetesDir + "/tmp"
	if kept := h.knownGood(component); exists(kept) {
		copies = kept + " and " + copies
	}
	return node.ManualIntervention("ManifestMissing", nil,
		"Restore "+path+" (copies are in "+copies+"), then run `refit retry`. If it was removed on purpose, run `refit abandon NODE`, "+
			"and remove the node from the cluster and from etcd: `kubectl delete node NODE; etcdctl member remove ID`",
		"%s does not exist, and Refit did not remove it", path)
}

func manifest(component string) string { return filepath.Join(ManifestsDir, component+".yaml") }

// knownGood returns the path of the agent's copy of a manifest, taken while the host was healthy.
func (h *Host) knownGood(component string) string {
	return filepath.Join(h.Settings.StateDir, "manifests", component+".yaml")
}

// BackUpManifests copies the static pod manifests of a healthy host.
func BackUpManifests(stateDir string) error {
	for _, component := range kubeadm.Components() {
		text, err := os.ReadFile(manifest(component))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			_, err = kubeadm.Parse(text)
		}
		if err != nil {
			return err
		}
		if err := durable.MkdirAll(filepath.Join(stateDir, "manifests"), 0o700); err != nil {
			return err
		}
		if err := durable.WriteFile(filepath.Join(stateDir, "manifests", component+".yaml"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
