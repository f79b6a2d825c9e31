package steps

import (
	"errors"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// RestoreControlPlane restores the old manifests that the steps in this state may have removed and
// not replaced. It restores etcd first, which the API server needs.
func (h *Host) RestoreControlPlane(state *node.State) error {
	var components []string
	if state.IsOpen(node.StepEtcd) {
		components = append(components, kubeadm.Etcd)
	}
	if state.APIServerStopped() {
		components = append(components, kubeadm.APIServer)
	}
	if state.IsOpen(node.StepControllers) {
		components = append(components, controllers...)
	}
	return h.restoreManifests(components...)
}

// RestoreInterrupted restores the manifests of interrupted swaps without a journal. The files
// beside a manifest show one: its previous version is kept, and the new one is still staged. A
// manifest that is missing for another reason stays removed.
func (h *Host) RestoreInterrupted() error {
	var all error
	for _, component := range kubeadm.Components() {
		path := manifest(component)
		if !host.Interrupted(path) {
			continue
		}
		all = errors.Join(all, h.Effect("restore-"+component, func() error { return host.RestoreMoved(path) }))
	}
	return all
}

// restoreAPIServer restores the API server's old manifest if swap-etcd removed it and nothing has
// replaced it.
func (h *Host) restoreAPIServer() error { return h.restoreManifests(kubeadm.APIServer) }

func (h *Host) restoreManifests(components ...string) error {
	var pods []staticPod
	for _, component := range components {
		pod, err := h.staticPod(component)
		if err != nil {
			return err
		}
		pods = append(pods, pod)
	}
	return h.staticPods().restore(pods...)
}

// DiscardStagedManifests removes the staged manifests of an operation that is over, so that nothing
// looks like an interrupted swap any more. It keeps the one of a manifest that is still removed.
func DiscardStagedManifests() error {
	var all error
	for _, component := range kubeadm.Components() {
		if path := manifest(component); !host.Interrupted(path) {
			all = errors.Join(all, host.DiscardStaged(path))
		}
	}
	return all
}
