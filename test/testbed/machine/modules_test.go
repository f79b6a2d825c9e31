package machine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestModulesThatAreMissingAreLoaded(t *testing.T) {
	dir := t.TempDir()
	there, missing := filepath.Join(dir, "there"), filepath.Join(dir, "missing")
	must(t, os.WriteFile(there, nil, 0o644))
	var loaded []string
	must(t, loadMissing(map[string]string{"builtin": there, "absent": missing}, func(name string) error {
		loaded = append(loaded, name)
		return os.WriteFile(missing, nil, 0o644)
	}))
	if want := []string{"absent"}; !slices.Equal(loaded, want) {
		t.Errorf("loaded %v, want %v", loaded, want)
	}
}

func TestModulesThatCannotBeLoadedFail(t *testing.T) {
	for name, load := range map[string]func(string) error{
		"modprobe fails":         func(string) error { return errors.New("not found in directory") },
		"modprobe has no effect": func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			err := loadMissing(map[string]string{"absent": filepath.Join(t.TempDir(), "missing")}, load)
			if err == nil || !strings.Contains(err.Error(), "cannot load kernel module absent: ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
