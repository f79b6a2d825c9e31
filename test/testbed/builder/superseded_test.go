package builder

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/refit-dev/refit/test/testbed/progress"
)

func TestOnlyUnusedEntriesAreRemoved(t *testing.T) {
	b := New(t.TempDir(), progress.Discard())
	current, err := b.current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var today string
	for entry := range current {
		today = entry
		break
	}
	old := filepath.Join(b.cache.dir, "images", "v1.35.4-0123456789ab")
	inUse := filepath.Join(b.cache.dir, "node", "v1.35.4-binaries-2.4.2-0123456789ab")
	apt := filepath.Join(b.cache.dir, "apt", "pool")
	for _, dir := range []string{today, old, inUse, apt} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := b.RemoveSuperseded(t.Context(), []string{filepath.Join(inUse, "root")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(removed, []string{"images/v1.35.4-0123456789ab"}) {
		t.Errorf("removed %v", removed)
	}
	for dir, want := range map[string]bool{today: true, old: false, inUse: true, apt: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", dir, err == nil, want)
		}
	}
}
