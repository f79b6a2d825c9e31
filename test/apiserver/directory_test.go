package apiserver

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOnlyLeftoversOfKilledTestsAreRemoved(t *testing.T) {
	parent := t.TempDir()
	old := time.Now().Add(-2 * unlockedFor)
	for name, tt := range map[string]struct {
		locked bool
		made   time.Time
	}{
		"refit-apiserver-left":   {made: old},
		"refit-apiserver-in-use": {made: old, locked: true},
		"refit-apiserver-new":    {made: time.Now()},
		"of-others":              {made: old},
	} {
		path := filepath.Join(parent, name)
		if err := os.MkdirAll(filepath.Join(path, "etcd"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, tt.made, tt.made); err != nil {
			t.Fatal(err)
		}
		if tt.locked {
			lock, err := lockDirectory(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { lock.Close() })
		}
	}
	if err := removeLeftovers(parent); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"refit-apiserver-left": false, "refit-apiserver-in-use": true, "refit-apiserver-new": true, "of-others": true,
	} {
		if _, err := os.Stat(filepath.Join(parent, name)); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", name, err == nil, want)
		}
	}
}
