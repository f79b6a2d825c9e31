package steps

import (
	"errors"
	"os"
	"testing"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func podOf(component, version string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + component + "}\nspec:\n  containers:\n  - name: " + component +
		"\n    image: registry.k8s.io/" + component + ":" + version + "\n    command: [" + component + "]\n"
}

// renderedHost is a control plane node with a manifest of each component, and their new versions.
func renderedHost(t *testing.T, etcd string) (h *Host, rendered kubeadm.Rendered) {
	t.Helper()
	inManifestsDir(t)
	h, rendered = testHost(t), kubeadm.Rendered{}
	for _, component := range kubeadm.Components() {
		put(t, manifest(component), podOf(component, "v1.35.4"))
		rendered[component] = []byte(podOf(component, "v1.36.3"))
	}
	put(t, manifest(kubeadm.Etcd), podOf(kubeadm.Etcd, "3.6.6-0"))
	rendered[kubeadm.Etcd] = []byte(podOf(kubeadm.Etcd, etcd))
	must(t, host.Save(h.path("saved"), savedPaths()))
	return h, rendered
}

// Rendering changes nothing that the kubelet reads, and can be interrupted at each point.
func TestInterruptedStagingOfManifests(t *testing.T) {
	stage := func(t *testing.T) (*Host, func() error) {
		t.Helper()
		h, rendered := renderedHost(t, "3.6.8-0")
		return h, func() error {
			onDisk, err := ManifestsOnDisk()
			must(t, err)
			return h.stageManifests(onDisk, rendered)
		}
	}
	h, run := stage(t)
	for _, point := range pointsOf(t, h, run) {
		t.Run(point, func(t *testing.T) {
			h, run := stage(t)
			killAt(t, h, point, run)
			must(t, run())
			wantText(t, manifest(kubeadm.APIServer), podOf(kubeadm.APIServer, "v1.35.4"))
			for _, component := range kubeadm.Components() {
				swapPod(t, h, component) // all of them are staged
			}
			wantText(t, manifest(kubeadm.APIServer), podOf(kubeadm.APIServer, "v1.36.3"))
			wantText(t, manifest(kubeadm.Etcd), podOf(kubeadm.Etcd, "3.6.8-0"))
		})
	}
}

// kubeadm init would render its own version of etcd, also below the one that runs.
func TestEtcdThatIsNotNewerStays(t *testing.T) {
	for situation, version := range map[string]string{"older": "3.5.21-0", "the same": "3.6.6-0", "without a version": "latest"} {
		t.Run(situation, func(t *testing.T) {
			h, rendered := renderedHost(t, version)
			onDisk, err := ManifestsOnDisk()
			must(t, err)
			must(t, h.stageManifests(onDisk, rendered))
			wantText(t, h.rendered(kubeadm.Etcd), podOf(kubeadm.Etcd, "3.6.6-0"))
			swapPod(t, h, kubeadm.Etcd)
			wantText(t, manifest(kubeadm.Etcd), podOf(kubeadm.Etcd, "3.6.6-0"))
		})
	}
}

func TestHostWithoutAnAPIServerManifestIsNotRendered(t *testing.T) {
	renderedHost(t, "3.6.8-0")
	must(t, os.Remove(manifest(kubeadm.Etcd))) // external etcd
	if _, err := ManifestsOnDisk(); err != nil {
		t.Error(err)
	}
	must(t, os.Remove(manifest(kubeadm.Scheduler)))
	if _, err := ManifestsOnDisk(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestUndoOfAManifestKeepsWhatOthersChanged(t *testing.T) {
	h := controlPlaneHost(t)
	swapPod(t, h, kubeadm.APIServer)
	swapPod(t, h, kubeadm.Scheduler)
	put(t, manifest(kubeadm.Scheduler), "of an administrator")
	for range 2 {
		must(t, undoAPIServer(t.Context(), h))
		must(t, undoControllers(t.Context(), h))
	}
	wantText(t, manifest(kubeadm.APIServer), "old kube-apiserver")
	wantText(t, manifest(kubeadm.Scheduler), "of an administrator")
	wantText(t, manifest(kubeadm.ControllerManager), "old kube-controller-manager")
	if err := h.undoManifest(kubeadm.Scheduler); !errors.Is(err, node.ErrKept) {
		t.Errorf("error %v", err)
	}
}

// Later steps must not depend on an API server, so the configuration is read once.
func TestClusterConfigurationIsReadFromTheOperation(t *testing.T) {
	h := testHost(t)
	must(t, h.writeJSON(clusterConfigFile, map[string]string{"ClusterConfiguration": externalEtcd}))
	config, err := h.readClusterConfig(t.Context())
	if err != nil || !config.ExternalEtcd {
		t.Errorf("%+v, %v", config, err)
	}
}
