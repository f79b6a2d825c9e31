package steps

import (
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// controlPlaneHost is a host whose operation has rendered and staged new manifests.
func controlPlaneHost(t *testing.T) *Host {
	t.Helper()
	was := manifestsDir
	t.Cleanup(func() { manifestsDir = was })
	manifestsDir = t.TempDir()
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

func TestControlPlaneIsRestoredWithoutAJournal(t *testing.T) {
	for situation, stopped := range map[string][]string{
		"nothing is stopped":      {},
		"the API server":          {kubeadm.APIServer},
		"the API server and etcd": {kubeadm.APIServer, kubeadm.Etcd},
	} {
		t.Run(situation, func(t *testing.T) {
			h := controlPlaneHost(t)
			for _, component := range stopped {
				stopPod(t, h, component)
			}
			for range 2 { // the agent restarts
				must(t, h.RestoreControlPlane())
				wantText(t, manifest(kubeadm.Etcd), "old etcd")
				wantText(t, manifest(kubeadm.APIServer), "old kube-apiserver")
			}
		})
	}
}

func TestRestoreWithoutAJournalKeepsWhatOthersDecided(t *testing.T) {
	h := controlPlaneHost(t)
	put(t, manifest(kubeadm.APIServer), "edited by an administrator")
	must(t, h.RestoreControlPlane())
	wantText(t, manifest(kubeadm.APIServer), "edited by an administrator")

	worker := testHost(t)
	must(t, worker.RestoreControlPlane())
	if exists(filepath.Join(worker.Dir, "saved")) {
		t.Error("a host without static pods was changed")
	}
}
