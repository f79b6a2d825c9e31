package release

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/keyring"
)

// Passphrase is where the passphrase of a private key comes from: a file, a keyring, or the user.
type Passphrase struct {
	File string
	// CanAsk reports whether there is a terminal; Ask prompts on it without an echo.
	CanAsk func() bool
	Ask    func(ctx context.Context, question string) (string, error)
	// Keyring returns the keyring of the user, which keeps the passphrases that Refit generates;
	// nil: there is none.
	Keyring func() *keyring.Keyring
}

// keyring returns the keyring of the user, or nil.
func (p *Passphrase) keyring() *keyring.Keyring {
	if p.Keyring == nil {
		return nil
	}
	return p.Keyring()
}

// inKeyring is the name of an encrypted key's passphrase in a keyring. It stays the same where the
// file is moved or copied.
func inKeyring(encrypted []byte) string {
	return fmt.Sprintf("release key %x", sha256.Sum256(bytes.TrimSpace(encrypted)))
}

// existing returns the passphrase of an encrypted key.
func (p *Passphrase) existing(ctx context.Context, path string, encrypted []byte) (string, error) {
	if p.File != "" {
		return p.read()
	}
	question := "Passphrase of " + path
	if ring := p.keyring(); ring != nil {
		secret, found, err := ring.Get(ctx, inKeyring(encrypted))
		if err != nil && !p.CanAsk() {
			return "", fmt.Errorf("cannot read the passphrase of %s from your keyring: %w", path, err)
		}
		if found {
			return secret, nil
		}
		question += ", which your keyring does not have"
		if err != nil {
			question = fmt.Sprintf("Passphrase of %s (cannot read your keyring: %v)", path, err)
		}
	}
	if !p.CanAsk() {
		return "", exit.Usagef("%s has a passphrase, and there is no terminal to ask for it: use --passphrase-file", path)
	}
	return p.Ask(ctx, question+": ")
}

// chosen returns the passphrase for a new key, empty if it gets none: the user has entered none, or
// there is no terminal. If the user has entered none and has a keyring, it is generated for that
// keyring.
func (p *Passphrase) chosen(ctx context.Context, path string) (secret string, into *keyring.Keyring, err error) {
	if p.File != "" {
		secret, err = p.read()
		return secret, nil, err
	}
	if !p.CanAsk() {
		return "", nil, nil
	}
	ring, without := p.keyring(), "for none"
	if ring != nil {
		without = "for a generated one in your keyring"
	}
	first, err := p.Ask(ctx, fmt.Sprintf("Passphrase for the new key %s (empty %s): ", path, without))
	if err != nil || (first == "" && ring == nil) {
		return "", nil, err
	}
	if first == "" {
		return rand.Text(), ring, nil
	}
	second, err := p.Ask(ctx, "The same passphrase again: ")
	if err == nil && second != first {
		err = errors.New("the passphrases differ: nothing was written")
	}
	return first, nil, err
}

// read returns the first line of the file.
func (p *Passphrase) read() (string, error) {
	text, err := os.ReadFile(p.File)
	if err != nil {
		return "", fmt.Errorf("cannot read the passphrase: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", exit.Usagef("--passphrase-file: the first line of %s is empty", p.File)
	}
	return line, nil
}

// encrypt encrypts a private key so that age decrypts it.
func encrypt(text []byte, passphrase string) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("cannot encrypt the key: %w", err)
	}
	var out bytes.Buffer
	armored := armor.NewWriter(&out)
	w, err := age.Encrypt(armored, recipient)
	if err != nil {
		return nil, fmt.Errorf("cannot encrypt the key: %w", err)
	}
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close(), armored.Close()); err != nil {
		return nil, fmt.Errorf("cannot encrypt the key: %w", err)
	}
	return append(out.Bytes(), '\n'), nil
}

// isEncrypted reports whether a private key has a passphrase.
func isEncrypted(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte(armor.Header))
}

func decrypt(path string, text []byte, passphrase string) ([]byte, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, exit.Usagef("the passphrase of %s is empty", path)
	}
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(bytes.TrimSpace(text))), identity)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return nil, fmt.Errorf("the passphrase of %s is wrong", path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decrypt %s: %w", path, err)
	}
	const most = 64 << 10 // a key has less than 1 KiB
	plain, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return nil, fmt.Errorf("cannot decrypt %s: %w", path, err)
	}
	return plain, nil
}
