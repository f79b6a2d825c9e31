package backup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// repair replaces a slot whose journal cannot be read by one of an attempt that failed: it may have
// a copy of the database, and the controller waits for a result.
func (m *Manager) repair(name string, why error) {
	m.Log.Error("cannot read the journal of a backup; removing its files", "slot", name, "error", why)
	if err := os.RemoveAll(filepath.Join(m.Dir, name)); err != nil {
		m.Log.Error("cannot remove the files of a backup", "slot", name, "error", err)
		return
	}
	ref, ok := attemptOf(name)
	if !ok {
		return // not a slot
	}
	created, err := m.createSlot(ref)
	if err != nil {
		m.Log.Error("cannot record that a backup failed", "slot", name, "error", err)
		return
	}
	defer created.journal.Close()
	m.finish(created, created.status(), node.Transient("JournalUnreadable", why, "Check the disk of this host (`dmesg`); Refit starts the next attempt",
		"cannot read the journal of the backup"))
}

// attemptOf returns the attempt of a slot's name.
func attemptOf(name string) (refitv1alpha1.BackupRef, bool) {
	cut := strings.LastIndexByte(name, '-')
	if cut < 1 {
		return refitv1alpha1.BackupRef{}, false
	}
	attempt, err := strconv.ParseInt(name[cut+1:], 10, 64)
	return refitv1alpha1.BackupRef{UID: types.UID(name[:cut]), Attempt: attempt}, err == nil && attempt > 0
}
