package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// slot is the directory of one attempt: its journal, and the snapshot while the attempt runs.
type slot struct {
	dir     string
	boot    string
	journal *journal.Journal
}

// slotName is the name of an attempt's directory.
func slotName(ref refitv1alpha1.BackupRef) string {
	return fmt.Sprintf("%s-%d", ref.UID, ref.Attempt)
}

// createSlot creates the slot of an attempt. It returns fs.ErrExist for one that was started
// before.
func (m *Manager) createSlot(ref refitv1alpha1.BackupRef) (*slot, error) {
	dir := filepath.Join(m.Dir, slotName(ref))
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	first := node.Record{At: time.Now().UTC(), Boot: m.Boot, Kind: node.Opened, Backup: &refitv1alpha1.NodeBackupStatus{
		UID: ref.UID, Attempt: ref.Attempt, Phase: refitv1alpha1.BackupRunning,
	}}
	created, err := journal.Create(filepath.Join(dir, "journal"), m.Machine, first)
	if err != nil {
		return nil, err
	}
	return &slot{dir: dir, boot: m.Boot, journal: created}, nil
}

// openSlot opens the slot in a directory, or returns fs.ErrNotExist.
func (m *Manager) openSlot(name string) (*slot, error) {
	dir := filepath.Join(m.Dir, name)
	opened, err := journal.Open(filepath.Join(dir, "journal"), m.Machine)
	if err != nil {
		return nil, err
	}
	return &slot{dir: dir, boot: m.Boot, journal: opened}, nil
}

// snapshot is the path of the copy of the database.
func (s *slot) snapshot() string { return filepath.Join(s.dir, "etcd.db") }

// hops is the directory of what a rehearsal needs.
func (s *slot) hops() string { return filepath.Join(s.dir, hopsDir) }

const hopsDir = "hops"

func (s *slot) write(record node.Record) error {
	record.At, record.Boot = time.Now().UTC(), s.boot
	if err := s.journal.Append(record); err != nil {
		return fmt.Errorf("cannot write the journal of the backup: %w", err)
	}
	return nil
}

// status is the state of the attempt, from its journal.
func (s *slot) status() *refitv1alpha1.NodeBackupStatus {
	var out refitv1alpha1.NodeBackupStatus
	for _, r := range s.journal.Records() {
		switch {
		case r.Backup != nil:
			out = *r.Backup
		case r.Kind == node.Started:
			out.Step = r.Step
		}
	}
	return &out
}

// unpinTimeout bounds the time until the images of a rehearsal are unpinned.
const unpinTimeout = 15 * time.Second

// clean removes the copy of the database and the files of a rehearsal. As long as its images cannot
// be unpinned, their list stays for the next attempt to do so.
func (m *Manager) clean(s *slot) error {
	err := durable.Remove(s.snapshot())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if unpinned := m.unpin(s.hops()); unpinned != nil {
		return errors.Join(err, unpinned)
	}
	return errors.Join(err, os.RemoveAll(s.hops()))
}

// unpin unpins the images of a rehearsal, even if the agent is being stopped.
func (m *Manager) unpin(hops string) error {
	if m.Environment.Unpin == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), unpinTimeout)
	defer cancel()
	if err := m.Environment.Unpin(ctx, hops); err != nil {
		return fmt.Errorf("cannot unpin the images of a rehearsal: %w", err)
	}
	return nil
}

// slots returns the names of all slots.
func (m *Manager) slots() (names []string, err error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, durable.Explain(err, "list", m.Dir)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// removeOthers removes the slots of all other attempts.
func (m *Manager) removeOthers(keep string) error {
	names, err := m.slots()
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == keep {
			continue
		}
		dir := filepath.Join(m.Dir, name)
		if err := m.unpin(filepath.Join(dir, hopsDir)); err != nil {
			m.Log.Warn("images of an earlier rehearsal stay pinned", "error", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return durable.Explain(err, "remove", dir)
		}
	}
	return nil
}
