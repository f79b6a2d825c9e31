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

// The most keys that a host trusts, and the most bytes that one may have.
const (
	mostKeys    = 64
	mostKeySize = 8 << 10
)

// LoadKeys reads the keys that a host trusts: every file *.pem of a directory. Whoever can write there decides what the host installs, so a file or directory
// that others than its owner could have written is refused, and so is a link, whose target nobody looked at.
func LoadKeys(dir string) ([]PublicKey, error) {
	if err := onlyOurs(dir, os.ModeDir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noKeys("there is no directory %s with the keys that ClusterReleases are verified with", dir)
		}
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the release keys: %w", err)
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
		if keys = append(keys, key); len(keys) > mostKeys {
			return nil, noKeys("%s holds more than %d keys", dir, mostKeys)
		}
	}
	if len(keys) == 0 {
		return nil, noKeys("%s holds no key (*.pem)", dir)
	}
	return keys, nil
}

func loadKey(path string) (PublicKey, error) {
	if err := onlyOurs(path, 0); err != nil {
		return PublicKey{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return PublicKey{}, fmt.Errorf("read a release key: %w", err)
	}
	if info.Size() > mostKeySize {
		return PublicKey{}, unsafeKey("%s has %d bytes, which no key has", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return PublicKey{}, fmt.Errorf("read a release key: %w", err)
	}
	key, err := ParsePublic(text)
	if err != nil {
		return PublicKey{}, unsafeKey("%s cannot be used: %v", path, err)
	}
	return key, nil
}

// onlyOurs refuses what is not of a type, or what others than root and this process's user can write.
func onlyOurs(path string, kind fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return fmt.Errorf("read the release keys: %w", err)
	case info.Mode().Type() != kind:
		return unsafeKey("%s is a %s; links and special files are not followed", path, info.Mode().Type())
	case info.Mode().Perm()&0o022 != 0:
		return unsafeKey("others than its owner can write %s (mode %04o)", path, info.Mode().Perm())
	case !ownedByUs(info):
		return unsafeKey("%s belongs to somebody else", path)
	}
	return nil
}

func unsafeKey(format string, args ...any) error {
	return node.ManualIntervention("ReleaseKeyUnsafe", nil,
		"make it a plain file with one public key that belongs to root and that only root can write (chown root:root, chmod 0644; 0755 for the directory)",
		format, args...)
}
