package steps

import (
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// brokenKubelet makes the kubelet of a host exit at each start.
func brokenKubelet(s *fakeServices) {
	restarts := 0
	s.state = func() host.Unit {
		restarts++
		return host.Unit{Sub: "auto-restart", Restarts: restarts}
	}
}

func TestVerifyFindsAReplacedBinaryBeforeItWaitsForTheKubelet(t *testing.T) {
	h, files, _, _ := binaryHost(t, kubeletParts...)
	must(t, h.install(t.Context(), kubeletParts...))
	put(t, files[1].Path, "another kubelet")
	if err := verify(t.Context(), h); err == nil || node.FailureOf(err).Reason != "ChangedByOthers" {
		t.Errorf("error %v", err)
	}
}

func TestVerifyFailsForAnUnhealthyKubelet(t *testing.T) {
	h, _, _, s := binaryHost(t, kubeletParts...)
	brokenKubelet(s)
	must(t, h.install(t.Context(), kubeletParts...))
	failure := node.FailureOf(verify(t.Context(), h))
	if failure.Reason != "KubeletUnhealthy" || failure.Class != refitv1alpha1.FailureManualIntervention {
		t.Errorf("%+v", failure)
	}
	// The end of a rollback is repeated: the previous kubelet may take long to start.
	failure = node.FailureOf(verifyRollback(t.Context(), h))
	if failure.Reason != "KubeletUnhealthy" || failure.Class != refitv1alpha1.FailureTransient {
		t.Errorf("%+v", failure)
	}
}

// swap-etcd stops the API server. If etcd is kept, no undo of another step restores it.
func TestVerifyOfARollbackRestoresTheAPIServer(t *testing.T) {
	for situation, since := range map[string]func(t *testing.T, h *Host){
		"stopped":  func(t *testing.T, h *Host) { t.Helper(); stopPod(t, h, kubeadm.APIServer) },
		"replaced": func(t *testing.T, h *Host) { t.Helper(); swapPod(t, h, kubeadm.APIServer) },
		"as it was before": func(*testing.T, *Host) {
		},
	} {
		t.Run(situation, func(t *testing.T) {
			h := controlPlaneHost(t)
			h.Upgrade.Role = refitv1alpha1.RoleControlPlane
			must(t, h.writeJSON(inventoryFile, inventory{}))
			since(t, h)
			// The old manifest of this test has no version, so the check ends after the restore.
			if err := verifyRollback(t.Context(), h); err == nil {
				t.Error("the version of the API server was read")
			}
			wantText(t, manifest(kubeadm.APIServer), "old kube-apiserver")
		})
	}
}

func swapPod(t *testing.T, h *Host, component string) {
	t.Helper()
	pod, err := h.staticPod(component)
	must(t, err)
	must(t, host.Swap(pod.path, pod.was, pod.will))
}

// Clean runs when the next upgrade starts, on a host that runs the new version.
func TestCleanRemovesOnlyWhatWasKeptForARollback(t *testing.T) {
	h := controlPlaneHost(t)
	_, files, _, _ := binaryHost(t, kubeletParts...)
	h.Settings.StateDir = t.TempDir()
	must(t, h.writeJSON(inventoryFile, inventory{Files: files}))
	must(t, h.install(t.Context(), kubeletParts...))
	swapPod(t, h, kubeadm.APIServer)
	own := filepath.Join(filepath.Dir(files[0].Path), ".hidden-of-the-owner")
	put(t, own, "kept")
	for range 2 {
		must(t, Clean(h))
	}
	wantFiles(t, files, "new")
	wantText(t, manifest(kubeadm.APIServer), "new kube-apiserver")
	wantText(t, own, "kept")
	for _, dir := range []string{filepath.Dir(files[0].Path), ManifestsDir} {
		left, err := filepath.Glob(filepath.Join(dir, ".*.refit-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left %q, %v", left, err)
		}
	}
	must(t, os.Remove(h.path(inventoryFile))) // an upgrade that ended before its inventory
	must(t, Clean(h))
}

func TestDigestsForTheNextUpgrade(t *testing.T) {
	h, files, _, _ := binaryHost(t, kubeletParts...)
	for _, f := range files {
		if h.InstalledDigests()[f.Path] != f.Will || h.PreviousDigests()[f.Path] != f.Was {
			t.Errorf("%s: %v, %v", f.Path, h.InstalledDigests(), h.PreviousDigests())
		}
	}
	must(t, os.Remove(h.path(inventoryFile)))
	if len(h.InstalledDigests())+len(h.PreviousDigests()) > 0 {
		t.Error("digests without an inventory")
	}
}
