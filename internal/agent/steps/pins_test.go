package steps

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/engine/cri"
)

// fakePins are images, and whether they are pinned.
type fakePins struct {
	pinned map[string]bool
	dir    string
	fails  error
}

func (f *fakePins) Image(_ context.Context, name string) (cri.Image, error) {
	pinned, has := f.pinned[name]
	return cri.Image{Present: has, Pinned: pinned}, nil
}

func (f *fakePins) Pin(_ context.Context, name string) error {
	if _, err := os.Stat(filepath.Join(f.dir, pinnedFile)); err != nil {
		return err // it is not recorded
	}
	f.pinned[name] = true
	return nil
}

func (f *fakePins) Unpin(_ context.Context, name string) error {
	if f.fails == nil {
		f.pinned[name] = false
	}
	return f.fails
}

func TestImagesOfARehearsalArePinnedForItsTime(t *testing.T) {
	f := &fakePins{pinned: map[string]bool{"etcd": false, "apiserver": false, "sandbox": true, "prefetched": false}, dir: t.TempDir()}
	before := maps.Clone(f.pinned)
	for range 2 { // a kill and another attempt
		for _, name := range []string{"etcd", "apiserver", "sandbox", "prefetched", "missing"} {
			must(t, pinFor(t.Context(), f, f.dir, name))
		}
	}
	if !f.pinned["etcd"] || !f.pinned["apiserver"] || !f.pinned["sandbox"] {
		t.Errorf("%v", f.pinned)
	}
	f.fails = errors.New("containerd is down")
	if err := unpin(t.Context(), f, f.dir, nil); err == nil {
		t.Error("the failure is hidden")
	}
	f.fails = nil
	must(t, unpin(t.Context(), f, f.dir, map[string]bool{"prefetched": true}))
	before["prefetched"] = true // an upgrade needs it
	if !maps.Equal(f.pinned, before) {
		t.Errorf("%v, want %v", f.pinned, before)
	}
	if _, err := os.Stat(filepath.Join(f.dir, pinnedFile)); err == nil {
		t.Error("the record is left")
	}
	must(t, unpin(t.Context(), f, f.dir, nil))
}
