package artifact

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeysSurviveARoundTrip(t *testing.T) {
	key := NewKey()
	private, err := MarshalPrivate(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := MarshalPublic(PublicOf(key).Key)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParsePrivate(private)
	if err != nil || !back.Equal(key) {
		t.Errorf("the private key differs: %v", err)
	}
	known, err := ParsePublic(public)
	if err != nil || known.ID != PublicOf(key).ID || !strings.HasPrefix(known.ID, "SHA256:") || len(known.ID) != 50 {
		t.Errorf("%+v %v", known, err)
	}
	if _, err := ParsePublic(private); err == nil || !strings.Contains(err.Error(), "private") {
		t.Errorf("a private key in the place of a public one: %v", err)
	}
	if _, err := ParsePublic(append(bytes.Clone(public), public...)); err == nil {
		t.Error("two keys in one file are accepted")
	}
	if _, err := ParsePrivate([]byte("secret")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKIXPublicKey(other.Public())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParsePublic(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: raw})); err == nil {
		t.Error("a key of another kind is accepted")
	}
}

func TestOnlyProtectedKeysAreTrusted(t *testing.T) {
	key := NewKey()
	public, err := MarshalPublic(PublicOf(key).Key)
	if err != nil {
		t.Fatal(err)
	}
	key1 := func(dir string) string { return filepath.Join(dir, "owner.pem") }
	for name, c := range map[string]struct {
		arrange func(dir string) error
		reason  string
	}{
		"one key":                            {func(string) error { return nil }, ""},
		"other files in the directory":       {func(dir string) error { return os.WriteFile(filepath.Join(dir, "README"), nil, 0o666) }, ""},
		"writable by others":                 {func(dir string) error { return os.Chmod(key1(dir), 0o646) }, "ReleaseKeyUnsafe"},
		"writable by a group":                {func(dir string) error { return os.Chmod(key1(dir), 0o664) }, "ReleaseKeyUnsafe"},
		"directory writable by others":       {func(dir string) error { return os.Chmod(dir, 0o777) }, "ReleaseKeyUnsafe"},
		"a symlink":                          {func(dir string) error { return os.Symlink(key1(dir), filepath.Join(dir, "other.pem")) }, "ReleaseKeyUnsafe"},
		"a directory with the name of a key": {func(dir string) error { return os.Mkdir(filepath.Join(dir, "x.pem"), 0o755) }, "ReleaseKeyUnsafe"},
		"garbage":                            {func(dir string) error { return os.WriteFile(filepath.Join(dir, "x.pem"), []byte("hello"), 0o644) }, "ReleaseKeyUnsafe"},
		"huge":                               {func(dir string) error { return os.WriteFile(filepath.Join(dir, "x.pem"), make([]byte, 9000), 0o644) }, "ReleaseKeyUnsafe"},
		"none":                               {func(dir string) error { return os.Remove(key1(dir)) }, "NoReleaseKeys"},
		"no directory":                       {os.RemoveAll, "NoReleaseKeys"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keys")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "owner.pem"), string(public), 0o644)
			if err := c.arrange(dir); err != nil {
				t.Fatal(err)
			}
			keys, err := LoadKeys(dir)
			if reasonOf(err) != c.reason || (c.reason == "") != (err == nil) {
				t.Fatalf("%v (%s), want %q", err, reasonOf(err), c.reason)
			}
			if err == nil && (len(keys) != 1 || keys[0].ID != PublicOf(key).ID) {
				t.Errorf("%v", keys)
			}
		})
	}
}

func TestKeysOfAnotherUserAreNotTrusted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change the owner of a file")
	}
	dir := t.TempDir()
	chmod(t, dir, 0o755)
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKeys(dir); reasonOf(err) != "ReleaseKeyUnsafe" {
		t.Error(err)
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	chmod(t, path, mode)
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
