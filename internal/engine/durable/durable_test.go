package durable_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// wantText compares a file's content; that of a missing file is "absent".
func wantText(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text, err = []byte("absent"), nil
	}
	must(t, err)
	if string(text) != want {
		t.Errorf("%s contains %.60q, want %.60q", path, text, want)
	}
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s contains %v, want %v", dir, got, want)
	}
}

func wantFailure(t *testing.T, err error, class refitv1alpha1.FailureClass, reason string) {
	t.Helper()
	var f *node.Failure
	if !errors.As(err, &f) || f.Class != class || f.Reason != reason || f.Remedy == "" {
		t.Fatalf("got %v (%+v), want %s %s", err, f, class, reason)
	}
}
