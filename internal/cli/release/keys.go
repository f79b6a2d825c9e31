package release

import (
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

// NewKeyPair writes a new key pair to a directory, or to a file and one beside it. It writes the
// public key last: without it, the private key is useless.
func NewKeyPair(out string) (cliv1alpha1.ReleaseKey, error) {
	if info, err := os.Stat(out); (err == nil && info.IsDir()) || filepath.Ext(out) == "" {
		out = filepath.Join(out, KeyName)
	}
	if filepath.Ext(out) == ".pem" {
		return cliv1alpha1.ReleaseKey{}, exit.Usagef("--out: %s has the extension of a public key. Use .key; the public key is written beside it", out)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
		return cliv1alpha1.ReleaseKey{}, fmt.Errorf("cannot create the directory of the key: %w", err)
	}
	key := artifact.NewKey()
	public := artifact.PublicOf(key)
	result := cliv1alpha1.NewReleaseKey(out, strings.TrimSuffix(out, filepath.Ext(out))+".pem", public.ID)
	privateText, err := artifact.MarshalPrivate(key)
	if err != nil {
		return result, err
	}
	publicText, err := artifact.MarshalPublic(public.Key)
	if err != nil {
		return result, err
	}
	if _, err := os.Lstat(result.PublicKey); !errors.Is(err, fs.ErrNotExist) {
		return result, exists(result.PublicKey)
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
		return fmt.Errorf("cannot write the key: %w", err)
	}
	return nil
}

// exists is the error for a file that a new key would overwrite.
func exists(path string) error {
	return fmt.Errorf("cannot create a key pair: %s already exists. Choose another path with --out", path)
}

// readPrivateKey reads a private key. It rejects a file that others can read.
func readPrivateKey(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key: %w", err)
	}
	key, err := artifact.ParsePrivate(raw)
	if err != nil {
		if _, public := artifact.ParsePublic(raw); public == nil {
			return nil, fmt.Errorf("cannot sign with %s: it is a public key. Use the private key, such as %s", path, KeyName)
		}
		return nil, fmt.Errorf("cannot read the private key in %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("cannot sign with %s: other users can read it. Run `chmod 600 %s`, and replace the key if it may have been copied", path, path)
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
