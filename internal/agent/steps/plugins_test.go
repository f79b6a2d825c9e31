package steps

import (
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// pluginHost is a host with a staged CNI plugin and a staged runc.
func pluginHost(t *testing.T) (h *Host, plugin, runc file) {
	t.Helper()
	h = testHost(t)
	h.Upgrade.Parts = []refitv1alpha1.Part{refitv1alpha1.PartRunc, refitv1alpha1.PartCNI}
	dir := t.TempDir()
	stage := func(part refitv1alpha1.Part, name string) file {
		path, from := filepath.Join(dir, name), filepath.Join(dir, name+".released")
		put(t, path, "old "+name)
		put(t, from, "new "+name)
		was, err := host.Digest(path)
		must(t, err)
		will, err := host.Digest(from)
		must(t, err)
		must(t, host.Stage(from, path, 0o755))
		return file{Part: part, Name: name, Path: path, Was: was, Will: will}
	}
	plugin, runc = stage(refitv1alpha1.PartCNI, "loopback"), stage(refitv1alpha1.PartRunc, "runc")
	must(t, h.writeJSON(inventoryFile, inventory{Files: []file{plugin, runc}}))
	return h, plugin, runc
}

// The DaemonSet of a CNI, such as Calico, writes its own plugins whenever it starts.
func TestPluginThatAnotherDaemonSetRewritesBlocksNothing(t *testing.T) {
	h, plugin, runc := pluginHost(t)
	put(t, plugin.Path, "written by Calico before the swap")
	must(t, swapCNI(t.Context(), h))
	wantText(t, plugin.Path, "written by Calico before the swap")
	must(t, swapRunc(t.Context(), h))
	must(t, h.verifyFiles(inventory{Files: []file{plugin, runc}}))
	if installed := h.InstalledDigests(); installed[plugin.Path] != "" || installed[runc.Path] != runc.Will {
		t.Errorf("the next upgrade compares %v", installed)
	}
	if previous := h.PreviousDigests(); previous[plugin.Path] != "" || previous[runc.Path] != runc.Was {
		t.Errorf("the next upgrade after a rollback compares %v", previous)
	}
	var review Review
	swaps, err := h.swapsToUndo(inventory{Files: []file{plugin, runc}})
	must(t, err)
	must(t, review.addSwaps(swaps))
	if len(review.blocking) > 0 || len(review.Kept) != 1 || len(review.Restored) != 1 {
		t.Errorf("the review of a rollback is %+v", review)
	}
}

// Files of earlier upgrades may contain plugins.
func TestStateWithPluginsOfAnEarlierUpgradeDoesNotCompareThem(t *testing.T) {
	h := testHost(t)
	h.HostState.Files = map[string]string{cniDir + "/loopback": "sha256:1", "/usr/bin/runc": "sha256:2"}
	if got := h.comparedFiles(); len(got) != 1 || got["/usr/bin/runc"] == "" {
		t.Errorf("got %v", got)
	}
}

func TestUntouchedPluginIsReplacedAndMustExist(t *testing.T) {
	h, plugin, _ := pluginHost(t)
	must(t, swapCNI(t.Context(), h))
	wantText(t, plugin.Path, "new loopback")
	must(t, os.Remove(plugin.Path))
	if err := h.verifyFiles(inventory{Files: []file{plugin}}); err == nil || node.FailureOf(err).Reason != "ChangedByOthers" {
		t.Errorf("got %v", err)
	}
}
