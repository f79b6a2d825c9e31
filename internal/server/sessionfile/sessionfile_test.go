package sessionfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/sessionfile"
)

func TestSessionsAreReadAgain(t *testing.T) {
	f := &sessionfile.File{Directory: t.TempDir(), Server: "https://a"}
	if got, err := f.Load(); err != nil || len(got) != 0 {
		t.Errorf("without a file: %v, %v", got, err)
	}
	expires := time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)
	if err := f.Save(map[string]access.Sealed{"s": {Expires: expires, Content: []byte{1}}}); err != nil {
		t.Fatal(err)
	}
	got, err := f.Load()
	if err != nil || len(got) != 1 || !got["s"].Expires.Equal(expires) || len(got["s"].Content) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	info, err := os.Stat(filepath.Join(f.Directory, "sessions.json"))
	if err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Errorf("%v, %v", info, err)
	}
	other := &sessionfile.File{Directory: f.Directory, Server: "https://b"}
	if got, err := other.Load(); err != nil || len(got) != 0 {
		t.Errorf("of another API server: %v, %v", got, err)
	}
}

func TestABrokenFileIsAnError(t *testing.T) {
	for situation, text := range map[string]string{"empty": "", "half": `{"format":"refit-sessions","ver`, "a list": "[]"} {
		f := &sessionfile.File{Directory: t.TempDir(), Server: "https://a"}
		if err := os.WriteFile(filepath.Join(f.Directory, "sessions.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Load(); err == nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", situation, got, err)
		}
	}
}
