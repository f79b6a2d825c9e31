package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/engine/host"
)

// The snapshot has every Secret of the cluster.
func TestStartRemovesTheSnapshotOfARestoreThatDidNotStart(t *testing.T) {
	if _, err := host.Identify(); err != nil {
		t.Skipf("this machine has no identity: %v", err)
	}
	a := newTestAgent(t, &apiStub{})
	snapshot := filepath.Join(a.Settings.RestoresDir(), "1777863600000", "etcd.db")
	if err := errors.Join(os.MkdirAll(filepath.Dir(snapshot), 0o700), os.WriteFile(snapshot, []byte("decrypted"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := a.finishRestore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(snapshot)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the snapshot is left: %v", err)
	}
}
