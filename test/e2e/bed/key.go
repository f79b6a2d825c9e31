package bed

import (
	"path/filepath"
	"strings"
	"testing"
)

// Key is the files of a release key.
type Key struct{ Private, Public string }

// NewKey makes a key as a person does.
func NewKey(t *testing.T, p Programs) Key {
	t.Helper()
	k := Key{Private: filepath.Join(t.TempDir(), "release.key")}
	Run(t, p.Refit, "release", "key", "create", "--out", k.Private)
	k.Public = strings.TrimSuffix(k.Private, ".key") + ".pem"
	return k
}
