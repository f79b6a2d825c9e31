package release

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/cli/exit"
)

func isUsage(err error) bool {
	_, is := errors.AsType[exit.UsageError](err)
	return is
}

func TestOnlyTheOwnerCanReadANewPrivateKey(t *testing.T) {
	private, public := keyPair(t)
	for path, want := range map[string]os.FileMode{private: 0o600, public: 0o644, filepath.Dir(private): os.ModeDir | 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, want %v: %v", path, info.Mode(), want, err)
		}
	}
}

func TestNewKeyPairCreatesTheDirectoryOfItsFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".config/refit")
	if _, err := NewKeyPair(t.Context(), filepath.Join(dir, "production.key"), noTerminal()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestNewKeyPairOverwritesNothing(t *testing.T) {
	for situation, existing := range map[string]string{"a private key": "k.key", "a public key": "k.pem"} {
		t.Run(situation, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, existing), "mine")
			_, err := NewKeyPair(t.Context(), filepath.Join(dir, "k.key"), noTerminal())
			if err == nil || !strings.Contains(err.Error(), existing+" already exists. Choose another path with --out") {
				t.Errorf("NewKeyPair() = %v", err)
			}
			entries, _ := os.ReadDir(dir)
			if text, _ := os.ReadFile(filepath.Join(dir, existing)); string(text) != "mine" || len(entries) != 1 {
				t.Errorf("%s has %q, beside %d files", existing, text, len(entries))
			}
		})
	}
}

func TestNewKeyPairInAPlaceThatIsNotADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "mine")
	_, err := NewKeyPair(t.Context(), filepath.Join(file, "k.key"), noTerminal())
	if err == nil || strings.Contains(err.Error(), "already exists") || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("NewKeyPair() = %v", err)
	}
}

func TestThePathOfANewKeyIsThatOfThePrivateOne(t *testing.T) {
	_, err := NewKeyPair(t.Context(), filepath.Join(t.TempDir(), "k.pem"), noTerminal())
	if !isUsage(err) {
		t.Errorf("NewKeyPair() = %v, want a usage error", err)
	}
}

func TestAPrivateKeyIsReadOnlyIfNobodyElseCanReadIt(t *testing.T) {
	private, public := keyPair(t)
	secret := filepath.Join(t.TempDir(), "k.pem")
	text, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	write(t, secret, string(text))
	if _, err := readPrivateKey(t.Context(), private, noTerminal()); err != nil {
		t.Error(err)
	}
	if _, err := readPrivateKey(t.Context(), secret, noTerminal()); err == nil || !strings.Contains(err.Error(), "it is a public key. Use the private key") {
		t.Errorf("a public key was read: %v", err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660} {
		if err := os.Chmod(private, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := readPrivateKey(t.Context(), private, noTerminal()); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a key of mode %o was read: %v", mode, err)
		}
	}
}

func TestPublicKeysThatCannotBeRead(t *testing.T) {
	private, _ := keyPair(t)
	for situation, c := range map[string]struct{ path, want string }{
		"a private key":      {private, "cannot read the public key in " + private},
		"a missing file":     {private + ".missing", "cannot read the key"},
		"an empty directory": {t.TempDir(), "key"},
	} {
		if keys, err := ReadPublicKeys([]string{c.path}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: ReadPublicKeys() = %v, %v", situation, keys, err)
		}
	}
}

// Users copy the private key to a safe place, and back.
func TestPublicKeyIsRestoredFromThePrivateOne(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	pair, err := NewKeyPair(t.Context(), "", enters(t, "correct horse", "correct horse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(pair.PublicKey); err != nil {
		t.Fatal(err)
	}
	public, created, err := OwnKey(t.Context(), enters(t, "correct horse"), true)
	if err != nil || created != nil || public != pair.PublicKey {
		t.Fatalf("OwnKey() = %s, %v, %v", public, created, err)
	}
	if keys, err := ReadPublicKeys([]string{public}); err != nil || keys[0].ID != pair.KeyID {
		t.Errorf("restored %v, %v", keys, err)
	}
}
