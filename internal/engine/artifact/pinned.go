package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The limits of the keys that a host trusts.
const (
	maxKeys    = 64
	maxKeySize = 8 << 10
)

// LoadKeys reads the keys that a host trusts: every file *.pem of a directory. Write access to it
// decides what the host installs, so LoadKeys refuses files and directories that are writable by
// others than their owner, and symlinks, whose targets it does not check.
func LoadKeys(dir string) ([]PublicKey, error) {
	if err := checkTrusted(dir, os.ModeDir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noKeys("the directory of release keys %s does not exist", dir)
		}
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list the release keys: %w", err)
	}
	var keys []PublicKey
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".pem") || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		key, err := loadKey(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		if keys = append(keys, key); len(keys) > maxKeys {
			return nil, noKeys("%s contains more than %d keys", dir, maxKeys)
		}
	}
	if len(keys) == 0 {
		return nil, noKeys("%s contains no key (*.pem)", dir)
	}
	return keys, nil
}

func loadKey(path string) (PublicKey, error) {
	if err := checkTrusted(path, 0); err != nil {
		return PublicKey{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return PublicKey{}, fmt.Errorf("cannot read a release key: %w", err)
	}
	if info.Size() > maxKeySize {
		return PublicKey{}, unsafeKey("%s has %d bytes, which is too much for a key", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return PublicKey{}, fmt.Errorf("cannot read a release key: %w", err)
	}
	key, err := ParsePublic(text)
	if err != nil {
		return PublicKey{}, unsafeKey("cannot use %s: %v", path, err)
	}
	return key, nil
}

// checkTrusted refuses a file of another type, and one that others than root and the user of this
// process can write.
func checkTrusted(path string, kind fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return fmt.Errorf("cannot read the release keys: %w", err)
	case info.Mode().Type() != kind:
		return unsafeKey("%s is a %s, but symlinks and special files are not allowed", path, info.Mode().Type())
	case info.Mode().Perm()&0o022 != 0:
		return unsafeKey("%s is writable by others than its owner (mode %04o)", path, info.Mode().Perm())
	case !isTrustedOwner(info):
		return unsafeKey("%s is owned by another user", path)
	}
	return nil
}

func unsafeKey(format string, args ...any) error {
	return node.ManualIntervention("ReleaseKeyUnsafe", nil,
		"Make it a regular file with one public key that is owned by root and writable only by root "+
			"(`chown root:root FILE; chmod 0644 FILE`; 0755 for the directory)",
		format, args...)
}
