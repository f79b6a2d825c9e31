package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// KeyName is the name of a private key's file in a directory.
const KeyName = "refit-release.key"

// UserKey returns the file of the user's own private key, which commands use unless the user names
// another one. It need not exist.
func UserKey() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", exit.Usagef("there is no directory for the key: %w. Name the file", err)
	}
	return filepath.Join(dir, "refit", KeyName), nil
}

// KeysName is the name of the directory in the user's configuration with the public keys of others
// that the user trusts.
const KeysName = "keys"

// UserKeys returns the user's own public key and the directory of KeysName, if they exist.
func UserKeys() (paths []string, err error) {
	private, err := UserKey()
	if err != nil {
		return nil, err
	}
	for _, path := range []string{PublicKeyOf(private), filepath.Join(filepath.Dir(private), KeysName)} {
		switch _, err := os.Stat(path); {
		case err == nil:
			paths = append(paths, path)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("cannot read the keys: %w", err)
		}
	}
	return paths, nil
}

// TrustedKeys returns the files of the keys that the user trusts: the named ones, or else UserKeys.
func TrustedKeys(named []string) ([]string, error) {
	if len(named) > 0 {
		return named, nil
	}
	paths, err := UserKeys()
	if err == nil && len(paths) == 0 {
		err = exit.Usagef("--key is required: a public key that you trust")
	}
	return paths, err
}

// OwnKey returns the file of the user's own public key. If there is none and create is set, it
// creates the key pair, and returns it, too. Otherwise the file is empty.
func OwnKey(ctx context.Context, passphrase Passphrase, create bool) (public string, created *cliv1alpha1.ReleaseKey, err error) {
	private, err := UserKey()
	if err != nil {
		return "", nil, err
	}
	switch _, err := os.Stat(PublicKeyOf(private)); {
	case err == nil:
		return PublicKeyOf(private), nil, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("cannot read the key: %w", err)
	case !create:
		return "", nil, nil
	}
	if _, err := os.Stat(private); err == nil {
		public, err := restorePublicKey(ctx, private, passphrase)
		return public, nil, err
	}
	if passphrase.File == "" && !passphrase.CanAsk() {
		return "", nil, exit.Usagef("you have no key yet, and there is no terminal to ask for its passphrase: " +
			"pass a public key with --release-key, or create your own key with `refit release key create`")
	}
	pair, err := NewKeyPair(ctx, private, passphrase)
	if err != nil {
		return "", nil, err
	}
	return pair.PublicKey, &pair, nil
}

// restorePublicKey writes the public key of a private key, for example of one that was copied back.
func restorePublicKey(ctx context.Context, private string, passphrase Passphrase) (string, error) {
	key, err := readPrivateKey(ctx, private, passphrase)
	if err != nil {
		return "", err
	}
	text, err := artifact.MarshalPublic(artifact.PublicOf(key).Key)
	if err != nil {
		return "", err
	}
	return PublicKeyOf(private), writeNew(PublicKeyOf(private), text, 0o644)
}

// PublicKeyOf returns the file of the public key beside a private key.
func PublicKeyOf(private string) string {
	return strings.TrimSuffix(private, filepath.Ext(private)) + ".pem"
}

// NewKeyPair writes a new key pair to a directory, or to a file and one beside it. Without either,
// it becomes the user's own. The public key is written last: without it, the private key is
// useless.
func NewKeyPair(ctx context.Context, out string, passphrase Passphrase) (cliv1alpha1.ReleaseKey, error) {
	if out == "" {
		var err error
		if out, err = UserKey(); err != nil {
			return cliv1alpha1.ReleaseKey{}, err
		}
	}
	if info, err := os.Stat(out); (err == nil && info.IsDir()) || filepath.Ext(out) == "" {
		out = filepath.Join(out, KeyName)
	}
	if filepath.Ext(out) == ".pem" {
		return cliv1alpha1.ReleaseKey{}, exit.Usagef("--out: %s has the extension of a public key. Use .key; the public key is written beside it", out)
	}
	key := artifact.NewKey()
	public := artifact.PublicOf(key)
	result := cliv1alpha1.NewReleaseKey(out, PublicKeyOf(out), public.ID)
	for _, path := range []string{result.PrivateKey, result.PublicKey} {
		switch _, err := os.Lstat(path); { // before the prompt for a passphrase
		case err == nil:
			return result, exists(path)
		case !errors.Is(err, fs.ErrNotExist):
			return result, fmt.Errorf("cannot write the key: %w", err)
		}
	}
	privateText, err := artifact.MarshalPrivate(key)
	if err != nil {
		return result, err
	}
	secret, ring, err := passphrase.chosen(ctx, out)
	if err != nil {
		return result, err
	}
	if secret != "" {
		if privateText, err = encrypt(privateText, secret); err != nil {
			return result, err
		}
		result.Encrypted = true
	}
	if ring != nil { // before the file, which is useless without it
		if err := ring.Set(ctx, inKeyring(privateText), secret); err != nil {
			return result, fmt.Errorf("cannot store the passphrase in your keyring: %w: nothing was written. Enter a passphrase instead", err)
		}
		result.Keyring = true
	}
	publicText, err := artifact.MarshalPublic(public.Key)
	if err != nil {
		return result, err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
		return result, fmt.Errorf("cannot create the directory of the key: %w", err)
	}
	if err := writeNew(result.PrivateKey, privateText, 0o600); err != nil {
		return result, err
	}
	return result, writeNew(result.PublicKey, publicText, 0o644)
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, content []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return exists(path)
	}
	if err != nil {
		return fmt.Errorf("cannot write the key: %w", err)
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		_ = os.Remove(path) // so that another attempt can write it
		return fmt.Errorf("cannot write the key: %w", err)
	}
	return nil
}

// exists is the error for a file that a new key would overwrite.
func exists(path string) error {
	return fmt.Errorf("cannot create a key pair: %s already exists. Choose another path with --out", path)
}

// readPrivateKey reads a private key. It rejects a file that others can read.
func readPrivateKey(ctx context.Context, path string, passphrase Passphrase) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key: %w", err)
	}
	if _, err := artifact.ParsePublic(raw); err == nil {
		return nil, fmt.Errorf("cannot sign with %s: it is a public key. Use the private key, such as %s", path, KeyName)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("cannot sign with %s: other users can read it. Run `chmod 600 %s`, and replace the key if it may have been copied", path, path)
	}
	if isEncrypted(raw) {
		secret, err := passphrase.existing(ctx, path, raw)
		if err != nil {
			return nil, err
		}
		if raw, err = decrypt(path, raw, secret); err != nil {
			return nil, err
		}
	}
	key, err := artifact.ParsePrivate(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot read the private key in %s: %w", path, err)
	}
	return key, nil
}

// ReadPublicKeys reads public keys, each a file or a directory of them.
func ReadPublicKeys(paths []string) ([]artifact.PublicKey, error) {
	var out []artifact.PublicKey
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			keys, err := artifact.LoadKeys(path)
			if err != nil {
				return nil, err
			}
			out = append(out, keys...)
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read the key: %w", err)
		}
		key, err := artifact.ParsePublic(raw)
		if err != nil {
			return nil, fmt.Errorf("cannot read the public key in %s: %w", path, err)
		}
		out = append(out, key)
	}
	return out, nil
}
