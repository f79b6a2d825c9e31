package steps

import (
	"os"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// controlPlaneHost is a host whose operation has rendered and staged new manifests.
func controlPlaneHost(t *testing.T) *Host {
	t.Helper()
	was := ManifestsDir
	t.Cleanup(func() { ManifestsDir = was })
	ManifestsDir = t.TempDir()
	h := testHost(t)
	for _, component := range kubeadm.Components() {
		put(t, manifest(component), "old "+component)
		put(t, h.rendered(component), "new "+component)
		must(t, host.Stage(h.rendered(component), manifest(component), 0o600))
	}
	must(t, host.Save(h.path("saved"), savedPaths()))
	return h
}

// stopPod removes the manifest of a component as swap-etcd does.
func stopPod(t *testing.T, h *Host, component string) {
	t.Helper()
	pod, err := h.staticPod(component)
	must(t, err)
	must(t, host.MoveAside(pod.path, pod.was))
}

// killedIn is the state of an operation whose agent died in a step.
func killedIn(step string) *node.State {
	return node.Read([]node.Record{
		{Kind: node.Opened, Upgrade: &node.Upgrade{Role: refitv1alpha1.RoleControlPlane, Etcd: true}}, {Kind: node.Started, Step: step},
	})
}

func TestControlPlaneIsRestored(t *testing.T) {
	for situation, tt := range map[string]struct {
		step    string
		stopped []string
	}{
		"nothing is stopped":      {node.StepEtcd, nil},
		"the API server":          {node.StepEtcd, []string{kubeadm.APIServer}},
		"the API server and etcd": {node.StepEtcd, []string{kubeadm.APIServer, kubeadm.Etcd}},
		"etcd is external":        {node.StepAPIServer, []string{kubeadm.APIServer}},
		"the controllers":         {node.StepControllers, controllers},
	} {
		for rule, restore := range map[string]func(*Host) error{
			"by the journal":    func(h *Host) error { return h.RestoreControlPlane(killedIn(tt.step)) },
			"without a journal": (*Host).RestoreInterrupted,
		} {
			t.Run(situation+" "+rule, func(t *testing.T) {
				h := controlPlaneHost(t)
				for _, component := range tt.stopped {
					stopPod(t, h, component)
				}
				for range 2 { // the agent restarts
					must(t, restore(h))
					for _, component := range kubeadm.Components() {
						wantText(t, manifest(component), "old "+component)
					}
				}
			})
		}
	}
}

func TestRestoreKeepsWhatOthersDecided(t *testing.T) {
	h := controlPlaneHost(t)
	put(t, manifest(kubeadm.APIServer), "edited by an administrator")
	must(t, os.Remove(manifest(kubeadm.Scheduler)))
	must(t, h.RestoreControlPlane(killedIn(node.StepEtcd)))
	must(t, h.RestoreInterrupted())
	wantText(t, manifest(kubeadm.APIServer), "edited by an administrator")
	if exists(manifest(kubeadm.Scheduler)) {
		t.Error("a manifest was restored that its owner removed")
	}
	must(t, testHost(t).RestoreControlPlane(killedIn(node.StepKubelet))) // a worker
}

// Without the saved state the agent uses the files beside the manifest.
func TestRestoreByTheJournalFailsWithoutTheSavedState(t *testing.T) {
	h := controlPlaneHost(t)
	stopPod(t, h, kubeadm.APIServer)
	must(t, os.RemoveAll(h.path("saved")))
	if err := h.RestoreControlPlane(killedIn(node.StepEtcd)); err == nil {
		t.Error("no error")
	}
	must(t, h.RestoreInterrupted())
	wantText(t, manifest(kubeadm.APIServer), "old kube-apiserver")
}
