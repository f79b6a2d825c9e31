package layers

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// TestEveryFolderHasARow finds folders without a row: nothing would prove their layer.
func TestEveryFolderHasARow(t *testing.T) {
	for _, folder := range goFolders(t) {
		if !covered(folder) {
			t.Errorf("%s has no row in table_test.go: give it one, and a rule in .golangci.yml", folder)
		}
	}
}

func TestAFolderIsCoveredByItsOwnRowOrOneAbove(t *testing.T) {
	for folder, want := range map[string]bool{
		"api/v1alpha1":                  true,
		"internal/upgrade/plan":         true,
		"internal/engine/drain/fake":    true,
		"internal/controller":           true,
		"internal/engine/another":       false,
		"internal/engine/draintoo":      false,
		"internal/controller/another":   false,
		"test/testbed/another":          false,
		"test/testbed/cmd/testbed/show": true,
		"pkg/util":                      false,
		".":                             false,
	} {
		if got := covered(folder); got != want {
			t.Errorf("covered(%q) = %v, want %v", folder, got, want)
		}
	}
}

func covered(folder string) bool {
	for _, b := range table {
		if folder == b.folder || b.as != rootOnly && strings.HasPrefix(folder, b.folder+"/") {
			return true
		}
	}
	return false
}

// goFolders lists the repository's folders that hold Go files.
func goFolders(t *testing.T) []string {
	t.Helper()
	var folders []string
	walkGo(t, func(file string) {
		if folder := path.Dir(file); len(folders) == 0 || folders[len(folders)-1] != folder {
			folders = append(folders, folder)
		}
	})
	if len(folders) == 0 {
		t.Fatal("no Go files found: this test searches the wrong folder")
	}
	return folders
}

// walkGo calls visit with each Go file of the repository, by its path from the root, except in the
// folders that Go or git ignore.
func walkGo(t *testing.T, visit func(file string)) {
	t.Helper()
	err := fs.WalkDir(repository(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return fs.SkipDir
		case entry.IsDir() && (base == "testdata" || base == "vendor" || base == "node_modules" || name == "bin" || name == "out"):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ".go"):
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func repository() fs.FS { return os.DirFS("../..") }
