package steps

import (
	"os"
	"testing"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// F70: people copy admin.conf to workers, for kubectl.
func TestHostIsAWorkerWithTheKubeconfigOfTheAdministrator(t *testing.T) {
	inManifestsDir(t)
	was := controllerManagerConf
	t.Cleanup(func() { controllerManagerConf = was })
	controllerManagerConf = t.TempDir() + "/controller-manager.conf"
	if HasControlPlane() {
		t.Error("a host without manifests is a control plane node")
	}
	put(t, controllerManagerConf, "of an interrupted kubeadm")
	if !HasControlPlane() {
		t.Error("a control plane node without a manifest is a worker")
	}
}

func TestManifestThatIsASymlinkIsSwappedAndRestored(t *testing.T) {
	inManifestsDir(t)
	h := testHost(t)
	target := t.TempDir() + "/scheduler.yaml"
	put(t, target, "old")
	must(t, os.Symlink(target, manifest(kubeadm.Scheduler)))
	must(t, host.Save(h.path("saved"), savedPaths()))
	put(t, h.rendered(kubeadm.Scheduler), "new")
	was, will, err := h.manifestDigests(kubeadm.Scheduler)
	if err != nil || was != digestOf([]byte("old")) || will != digestOf([]byte("new")) {
		t.Fatalf("%s %s %v", was, will, err)
	}
	must(t, host.Stage(h.rendered(kubeadm.Scheduler), manifest(kubeadm.Scheduler), 0o600))
	must(t, host.MoveAside(manifest(kubeadm.Scheduler), was))
	must(t, host.Swap(manifest(kubeadm.Scheduler), was, will))
	wantText(t, manifest(kubeadm.Scheduler), "new")
	wantText(t, target, "old")
	must(t, h.undoManifest(kubeadm.Scheduler))
	if link, err := os.Readlink(manifest(kubeadm.Scheduler)); err != nil || link != target {
		t.Errorf("%q, %v", link, err)
	}
}
