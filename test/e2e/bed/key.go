package bed

import (
	"path/filepath"
	"strings"
	"testing"
)

// Key holds the paths of a release key.
type Key struct{ Private, Public string }

// NewKey creates a key with the CLI.
func NewKey(t *testing.T, p Binaries) Key {
	t.Helper()
	k := Key{Private: filepath.Join(t.TempDir(), "release.key")}
	Run(t, p.Refit, "release", "key", "create", "--out", k.Private)
	k.Public = strings.TrimSuffix(k.Private, ".key") + ".pem"
	return k
}
