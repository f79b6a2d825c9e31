package steps

import (
	"errors"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// RestoreControlPlane restores the old manifests that the steps in this state have removed and not
// replaced. It restores etcd first, which the API server needs. A manifest that its owner removes
// while such a step is open, for example after a failure, stays removed.
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

// RestoreInterrupted restores the manifests of interrupted swaps without a journal. The record
// beside a manifest shows one, and has the digest of the previous version. A manifest that is
// missing for another reason stays removed.
func (h *Host) RestoreInterrupted() error {
	var all error
	for _, component := range kubeadm.Components() {
		path := manifest(component)
		if !host.Interrupted(path) {
			all = errors.Join(all, host.RestoreMoved(path)) // its record may be left
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
	return h.staticPods().restoreInterrupted(pods...)
}

// DiscardStagedManifests removes the staged manifests of an operation that is over. It keeps the
// one of a manifest that is still removed.
func DiscardStagedManifests() error {
	var all error
	for _, component := range kubeadm.Components() {
		if path := manifest(component); !host.Interrupted(path) {
			all = errors.Join(all, host.DiscardStaged(path))
		}
	}
	return all
}
