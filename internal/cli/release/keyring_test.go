package release

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/cli/keyring"
)

// ring is a keyring in memory. The test of package keyring uses a real one.
type ring struct {
	secrets map[string]string
	err     error
}

func (r *ring) of() *keyring.Keyring {
	return &keyring.Keyring{
		Get: func(_ context.Context, name string) (string, bool, error) {
			secret, found := r.secrets[name]
			return secret, found && r.err == nil, r.err
		},
		Set: func(_ context.Context, name, secret string) error {
			if r.err == nil {
				r.secrets[name] = secret
			}
			return r.err
		},
	}
}

func TestGeneratedPassphraseIsInTheKeyring(t *testing.T) {
	r := &ring{secrets: map[string]string{}}
	user := enters(t, "")
	user.Keyring = r.of
	out := filepath.Join(t.TempDir(), "k.key")
	pair, err := NewKeyPair(t.Context(), out, user)
	if err != nil || !pair.Encrypted || !pair.Keyring || len(r.secrets) != 1 {
		t.Fatalf("NewKeyPair() = %+v, %v; the keyring has %d secrets", pair, err, len(r.secrets))
	}
	moved := filepath.Join(t.TempDir(), "moved.key")
	if err := os.Rename(out, moved); err != nil {
		t.Fatal(err)
	}
	pipeline := noTerminal()
	pipeline.Keyring = r.of
	elsewhere := noTerminal()
	elsewhere.Keyring = (&ring{}).of
	for situation, c := range map[string]struct {
		passphrase Passphrase
		broken     error
		want       string
	}{
		"with the keyring":                     {passphrase: pipeline},
		"with the keyring of another user":     {passphrase: elsewhere, want: "use --passphrase-file"},
		"with a keyring that does not respond": {passphrase: pipeline, broken: errors.New("it is locked"), want: "it is locked"},
	} {
		r.err = c.broken
		_, err := (&Signer{KeyFile: moved, Passphrase: c.passphrase}).Sign(t.Context(), "payload.json", payload(t, nil))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Sign() = %v, want %q", situation, err, c.want)
		}
	}
}

func TestKeyWhosePassphraseTheKeyringRefusesIsNotWritten(t *testing.T) {
	user := enters(t, "")
	user.Keyring = (&ring{err: errors.New("it is locked")}).of
	out := filepath.Join(t.TempDir(), "keys", "k.key")
	if _, err := NewKeyPair(t.Context(), out, user); err == nil || !strings.Contains(err.Error(), "it is locked") {
		t.Errorf("NewKeyPair() = %v", err)
	}
	if _, err := os.Stat(filepath.Dir(out)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

func TestPassphraseOfTheUserIsNotInTheKeyring(t *testing.T) {
	r := &ring{secrets: map[string]string{}}
	user := enters(t, "correct horse", "correct horse")
	user.Keyring = r.of
	pair, err := NewKeyPair(t.Context(), filepath.Join(t.TempDir(), "k.key"), user)
	if err != nil || !pair.Encrypted || pair.Keyring || len(r.secrets) != 0 {
		t.Errorf("NewKeyPair() = %+v, %v; the keyring has %d secrets", pair, err, len(r.secrets))
	}
}
