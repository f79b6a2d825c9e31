package steps

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

const (
	// clusterConfigFile is the ConfigMap of kubeadm from the start of the operation.
	clusterConfigFile = "cluster-configuration.json"
	// lastPatchFile is the patch of the last ClusterRelease at that time.
	lastPatchFile = "last-configuration-patch.json"
)

// readClusterConfig reads the ClusterConfiguration from the cluster once, then from the operation's
// directory: later steps must not depend on an API server. On the first control plane node, it has
// the patch of the ClusterRelease.
func (h *Host) readClusterConfig(ctx context.Context) (*kubeadm.Patched, error) {
	if exists(h.path(clusterConfigFile)) {
		return h.clusterConfig()
	}
	client, err := h.api()
	if err != nil {
		return nil, err
	}
	stored, err := kubeadm.ReadStored(ctx, client)
	if err != nil {
		return nil, err
	}
	config, err := h.patched(stored)
	if err != nil {
		return nil, err // the next attempt reads what the owner has fixed
	}
	if err := h.writeJSON(lastPatchFile, stored.Last); err != nil {
		return nil, err
	}
	return config, h.writeJSON(clusterConfigFile, stored.Config)
}

func (h *Host) clusterConfig() (*kubeadm.Patched, error) {
	var stored kubeadm.Stored
	if err := h.readJSON(clusterConfigFile, &stored.Config); err != nil {
		return nil, err
	}
	// An agent that knew no patches has not written the last one.
	if err := h.readJSON(lastPatchFile, &stored.Last); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return h.patched(stored)
}

// patched merges the patch of the ClusterRelease on the node that stores the result. The others
// render what is stored, also if the first one was upgraded to another ClusterRelease: a control
// plane whose nodes differ would be worse than one without the patch.
func (h *Host) patched(stored kubeadm.Stored) (*kubeadm.Patched, error) {
	if h.Upgrade.Role != refitv1alpha1.RoleFirstControlPlane {
		return stored.Unpatched()
	}
	return stored.Patch(signedconfig.Of(h.Release.Payload.ClusterConfiguration))
}

// checkPatch refuses a patch with flags or feature gates that the version does not have: kubeadm
// renders any flag, and drops gates. Only the rehearsal tries the values.
func checkPatch(config *kubeadm.Patched, version string) error {
	unsupported := signedconfig.Unsupported(config.Applied, version)
	if len(unsupported) == 0 {
		return nil
	}
	return node.ManualIntervention("PatchUnsupported", nil,
		"Create a ClusterRelease without them (`refit release create --cluster-configuration`), and upgrade to it",
		"the patch of the kubeadm configuration does not fit the version: %s", strings.Join(unsupported, "; "))
}

// uploadConfig writes the patched ClusterConfiguration and lets kubeadm upload it. kubeadm takes it
// from the cluster and changes only the version, so it is written before.
func uploadConfig(ctx context.Context, h *Host) error {
	config, err := h.readClusterConfig(ctx)
	if err != nil {
		return err
	}
	client, err := h.api()
	if err != nil {
		return err
	}
	if config.Records() {
		if err := h.Effect("prepare-patch", func() error { return kubeadm.PrepareRecord(ctx, client) }); err != nil {
			return err
		}
	}
	return kubeadm.TrackObjects(ctx, client, h.path("objects"), kubeadm.PhaseUploadConfig, func() error {
		edited, err := config.Store(ctx, client, h.Effect)
		if err != nil {
			return err
		}
		for _, field := range edited.Fields() {
			h.Log.Warn("the ClusterConfiguration was edited during the upgrade: the field keeps its value, and this node has that of the ClusterRelease",
				"field", field)
		}
		return h.runPhase(ctx, kubeadm.PhaseUploadConfig, nil)
	})
}
