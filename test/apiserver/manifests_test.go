package apiserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestObjectsAreReadInTheOrderOfTheirFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"20.yml":    "kind: C\n",
		"10.yaml":   "---\n# nothing yet\n---\nkind: A\n---\nkind: B\n---\n",
		"notes.txt": "kind: no manifest\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := readManifests(dir)
	if err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, object := range objects {
		kinds += object.GetKind()
	}
	if kinds != "ABC" {
		t.Errorf("got %q", kinds)
	}
}

func TestAnObjectThatCannotBeInstalledIsNamed(t *testing.T) {
	empty, broken := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "bad.yaml"), []byte("kind: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, word := range map[string]string{empty: empty, broken: "bad.yaml"} {
		if _, err := readManifests(dir); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("of %s it says %v", dir, err)
		}
	}
}
