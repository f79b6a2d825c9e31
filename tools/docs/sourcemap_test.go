package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var mapped = regexp.MustCompile("(?m)^\\| `([a-z0-9/-]+|[a-z0-9/-]+/\\*)/`")

// The source map of docs/architecture.md has a row for each folder with Go code, and no other rows
// above the planned ones.
func TestSourceMapMatchesTheTree(t *testing.T) {
	text, _, found := strings.Cut(read(t, "docs/architecture.md"), "\n### Planned\n")
	if !found {
		t.Fatal("docs/architecture.md has no section Planned")
	}
	rows := map[string]bool{}
	for _, match := range mapped.FindAllStringSubmatch(text, -1) {
		rows[match[1]] = true
		if files, err := fs.Glob(os.DirFS(root), match[1]); err != nil || len(files) == 0 {
			t.Errorf("the source map has %s, which does not exist", match[1])
		}
	}
	for _, folder := range goFolders(t) {
		if !rows[folder] && !rows[path.Dir(folder)+"/*"] {
			t.Errorf("the source map has no row for %s", folder)
		}
	}
}

// goFolders returns the folders with Go code, without the parts of a folder that only it and its
// tests use.
func goFolders(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, top := range []string{"api", "cmd", "config", "internal", "test", "tools"} {
		err := fs.WalkDir(os.DirFS(root), top, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			switch base := path.Base(name); {
			case base == "testdata", base[0] == '_', name != top && base == "internal", base == path.Base(path.Dir(name))+"test":
				return fs.SkipDir
			}
			if files, _ := fs.Glob(os.DirFS(root), name+"/*.go"); len(files) > 0 {
				folders = append(folders, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return folders
}
