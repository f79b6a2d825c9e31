package host

import (
	"path/filepath"
	"testing"
)

func TestRelativePathsAreRefused(t *testing.T) {
	for _, path := range []string{"", "file", "./file", "/a/../b", "/a/", "//a"} {
		for name, err := range map[string]error{
			"Swap": Swap(path, "", sha("")), "UndoSwap": UndoSwap(path, "", ""), "DiscardPrevious": DiscardPrevious(path), "Reserve": Reserve(path, 1),
			"Save": Save(path, nil), "Save of": Save(filepath.Join(t.TempDir(), "saved"), []string{path}),
		} {
			if err == nil {
				t.Errorf("%s accepts %q", name, path)
			}
		}
	}
}
