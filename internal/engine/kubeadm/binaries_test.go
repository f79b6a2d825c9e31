package kubeadm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// versions are the minor versions whose binaries the tests run, if the testbed has built them.
var versions = []string{"v1.34", "v1.35", "v1.36", "v1.37"}

// program returns the path of a binary of a minor version of Kubernetes.
func program(t *testing.T, name, minor string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("there is no cache of built programs: %v", err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "refit-testbed", "kubernetes", minor+".*", "bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skipf("%s of %s has not been built here: bin/testbed build --kubernetes %s.X", name, minor, minor)
	}
	slices.Sort(found)
	return found[len(found)-1]
}

// versionOf returns the version in the path of such a binary.
func versionOf(path string) string {
	version, _, _ := strings.Cut(filepath.Base(filepath.Dir(filepath.Dir(path))), "-")
	return version
}

// pretend creates a binary that runs a script and appends its arguments to a file.
func pretend(t *testing.T, script string) (path, calls string) {
	t.Helper()
	dir := t.TempDir()
	path, calls = filepath.Join(dir, "kubeadm"), filepath.Join(dir, "calls")
	text := "#!/bin/sh\necho \"$@\" >> " + calls + "\n" + script + "\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, calls
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
