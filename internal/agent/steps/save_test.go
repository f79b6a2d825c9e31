package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestReserveTakesTheDiskSpaceForARollback(t *testing.T) {
	h := testHost(t)
	h.Settings.StateDir = t.TempDir()
	var effects []string
	h.Effect = func(name string, change func() error) error { effects = append(effects, name); return change() }
	for range 2 { // an interrupted step is repeated
		must(t, h.reserveNeeds([]need{{h.Settings.StateDir, 2 << 20}}))
	}
	info, err := os.Stat(h.Settings.ReserveFile())
	if err != nil || info.Size() != 2<<20 || info.Mode() != 0o600 {
		t.Errorf("%+v, %v", info, err)
	}
	if strings.Join(effects, " ") != "reserve reserve" {
		t.Errorf("effects %v: a crash test could not stop before the change", effects)
	}
}

func TestSaveKeepsTheFirstInventoryAndTheManifests(t *testing.T) {
	inManifestsDir(t)
	h, _, plugin := fetchingHost(t)
	put(t, manifest("kube-apiserver"), "old manifest")
	must(t, save(t.Context(), h))
	first, err := h.inventory()
	if err != nil || len(first.Files) != 1 || first.Files[0].Will != plugin.Digest || first.Files[0].Path != filepath.Join(cniDir, "bridge") {
		t.Fatalf("the inventory is %+v, %v", first, err)
	}
	// After an interruption the host may have changed: the state before the operation counts.
	first.Files[0].Was = "sha256:before"
	must(t, h.writeJSON(inventoryFile, first))
	must(t, save(t.Context(), h))
	if again, err := h.inventory(); err != nil || again.Files[0].Was != "sha256:before" {
		t.Errorf("the inventory was taken again: %+v, %v", again, err)
	}
	saved, err := h.saved()
	must(t, err)
	put(t, manifest("kube-apiserver"), "new manifest")
	if text, err := saved.Read(manifest("kube-apiserver")); err != nil || string(text) != "old manifest" {
		t.Errorf("saved %q, %v", text, err)
	}
}

// This test has no API server, so reading the add-ons of the cluster fails.
func TestSaveOfAControlPlaneNodeNeedsTheAPI(t *testing.T) {
	inManifestsDir(t)
	h, _, _ := fetchingHost(t)
	h.Upgrade.Role = refitv1alpha1.RoleControlPlane
	if err := save(t.Context(), h); err == nil {
		t.Error("the add-ons of the cluster were not read")
	}
	must(t, h.writeJSON(addonsFile, map[string]bool{}))
	must(t, save(t.Context(), h)) // they were read before the interruption
}
