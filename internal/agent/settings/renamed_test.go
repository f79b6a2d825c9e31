package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestFileWithFormerNamesIsRefusedWithTheNewName(t *testing.T) {
	for text, want := range map[string]string{
		"reserveMiB: 128\n":                "Rename reserveMiB to reservedDiskMiB in ",
		"asideAPIServer: false\n":          "Rename asideAPIServer to stopAPIServerDuringEtcdUpgrade in ",
		"patience: {kubeletSeconds: 90}\n": "Rename patience to timeouts in ",
	} {
		path := filepath.Join(t.TempDir(), "agent.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		if err == nil {
			t.Fatalf("%q is accepted", text)
		}
		if f := node.FailureOf(err); f.Reason != "SettingsInvalid" || !strings.HasPrefix(f.Remedy, want+path) {
			t.Errorf("%q: reason %s, remedy %q", text, f.Reason, f.Remedy)
		}
		if _, err := Default().Overlay([]byte(text)); err == nil || !strings.HasPrefix(node.FailureOf(err).Remedy, want) {
			t.Errorf("overlay %q: %v", text, err)
		}
	}
}

func TestUnknownSettingIsRefused(t *testing.T) {
	_, err := Default().Overlay([]byte("sorces: [/srv]\n"))
	if err == nil || strings.Contains(node.FailureOf(err).Remedy, "rename") {
		t.Errorf("got %v", err)
	}
}
