package release

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// noTerminal is a user who cannot be asked.
func noTerminal() Passphrase {
	return Passphrase{CanAsk: func() bool { return false }}
}

// enters is a user who enters these answers, one after the other.
func enters(t *testing.T, answers ...string) Passphrase {
	t.Helper()
	return Passphrase{
		CanAsk: func() bool { return true },
		Ask: func(context.Context, string) (string, error) {
			if len(answers) == 0 {
				t.Fatal("the user is asked once more")
			}
			answer := answers[0]
			answers = answers[1:]
			return answer, nil
		},
	}
}

func TestKeyWithAPassphraseSignsOnlyWithIt(t *testing.T) {
	out := filepath.Join(t.TempDir(), "k.key")
	pair, err := NewKeyPair(t.Context(), out, enters(t, "correct horse", "correct horse"))
	if err != nil || !pair.Encrypted {
		t.Fatal(pair, err)
	}
	if text, err := os.ReadFile(out); err != nil || strings.Contains(string(text), "PRIVATE KEY") {
		t.Errorf("the key is not encrypted: %v", err)
	}
	file := filepath.Join(t.TempDir(), "passphrase")
	write(t, file, "correct horse\r\nanother line\n")
	empty := filepath.Join(t.TempDir(), "empty")
	write(t, empty, "\n")
	for situation, c := range map[string]struct {
		passphrase Passphrase
		want       string
	}{
		"entered":       {enters(t, "correct horse"), ""},
		"from a file":   {Passphrase{File: file}, ""},
		"wrong":         {enters(t, "battery staple"), "is wrong"},
		"empty":         {enters(t, ""), "is empty"},
		"no terminal":   {noTerminal(), "use --passphrase-file"},
		"an empty file": {Passphrase{File: empty}, "is empty"},
		"no file":       {Passphrase{File: empty + "-missing"}, "cannot read the passphrase"},
	} {
		t.Run(situation, func(t *testing.T) {
			_, err := (&Signer{KeyFile: out, Passphrase: c.passphrase}).Sign(t.Context(), "payload.json", payload(t, nil))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Sign() = %v, want %q", err, c.want)
			}
		})
	}
}

func TestNewKeyWithDifferentPassphrasesIsNotWritten(t *testing.T) {
	out := filepath.Join(t.TempDir(), "keys", "k.key")
	if _, err := NewKeyPair(t.Context(), out, enters(t, "one", "two")); err == nil || !strings.Contains(err.Error(), "differ") {
		t.Errorf("NewKeyPair() = %v", err)
	}
	if _, err := os.Stat(filepath.Dir(out)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

func TestKeyWithoutAPassphraseIsTheChoiceOfTheUser(t *testing.T) {
	pair, err := NewKeyPair(t.Context(), filepath.Join(t.TempDir(), "k.key"), enters(t, ""))
	if err != nil || pair.Encrypted {
		t.Errorf("NewKeyPair() = %+v, %v", pair, err)
	}
}

func TestUsersOwnKeyIsTheDefault(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if _, err := (&Signer{}).Sign(t.Context(), "payload.json", payload(t, nil)); !isUsage(err) || !strings.Contains(err.Error(), "refit release key create") {
		t.Errorf("without a key: %v", err)
	}
	pair, err := NewKeyPair(t.Context(), "", noTerminal())
	if own, _ := UserKey(); err != nil || pair.PrivateKey != own {
		t.Errorf("NewKeyPair() = %+v, %v", pair, err)
	}
	if _, err := (&Signer{}).Sign(t.Context(), "payload.json", payload(t, nil)); err != nil {
		t.Error(err)
	}
}
