package restore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Site is where restores keep their state on a host.
type Site struct {
	// Dir has one directory for each run: the plan, the journal, the manifests that are moved away,
	// and the decrypted snapshot until the restore ends.
	Dir string
	// Manifests is the directory of static pods.
	Manifests string
	// MachineID and BootID identify the host and its boot.
	MachineID, BootID string
}

// Restore is a restore that was confirmed on this host.
type Restore struct {
	Site
	Machine Machine
	Plan    restore.Plan
	// Progress is called before each step and wait.
	Progress func(message string)
	// Point is called before and after each effect; tests stop there. It may be nil.
	Point    func(name string)
	Timeouts Timeouts

	journal *journal.Journal
}

// Timeouts bound the waits.
type Timeouts struct {
	Etcd      time.Duration // until etcd serves
	APIServer time.Duration // until the API server is ready
	Poll      time.Duration
}

// DefaultTimeouts suffice for a database of 8 GB on a slow disk.
func DefaultTimeouts() Timeouts {
	return Timeouts{Etcd: 10 * time.Minute, APIServer: 5 * time.Minute, Poll: time.Second}
}

// RunDir is the directory of a run.
func (s Site) RunDir(run restore.Run) string { return filepath.Join(s.Dir, run.String()) }

// Snapshot is the decrypted snapshot of a run.
func (s Site) Snapshot(run restore.Run) string { return filepath.Join(s.RunDir(run), "etcd.db") }

// finishedFile exists in the directory of a run that has ended.
const finishedFile = "finished"

func (s Site) journalFile(run restore.Run) string { return filepath.Join(s.RunDir(run), "journal") }

func (r *Restore) file(name ...string) string {
	return filepath.Join(append([]string{r.RunDir(r.Plan.Run)}, name...)...)
}

// Open returns the plan of the unfinished restore of this host, if there is one.
func (s Site) Open() (restore.Plan, bool, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return restore.Plan{}, false, nil
	}
	if err != nil {
		return restore.Plan{}, false, durable.Explain(err, "list", s.Dir)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue // not a run
		}
		plan, open, err := s.openIn(filepath.Join(s.Dir, entry.Name()))
		if err != nil || open {
			return plan, open, err
		}
	}
	return restore.Plan{}, false, nil
}

// RemoveUnconfirmed removes what commands left that were killed before they recorded a plan. It
// contains decrypted snapshots. No other command may restore meanwhile.
func (s Site) RemoveUnconfirmed() error {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if dir := filepath.Join(s.Dir, entry.Name()); entry.IsDir() && !exists(filepath.Join(dir, "journal")) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return durable.Explain(err, "remove unconfirmed restores in", s.Dir)
}

// openIn returns the plan of an unfinished restore in a directory. One without a journal was not
// confirmed.
func (s Site) openIn(dir string) (plan restore.Plan, open bool, err error) {
	if exists(filepath.Join(dir, finishedFile)) {
		return plan, false, nil
	}
	records, err := journal.Read(filepath.Join(dir, "journal"), s.MachineID)
	if errors.Is(err, fs.ErrNotExist) {
		return plan, false, nil
	}
	if err != nil {
		return plan, false, err
	}
	if len(records) > 0 && records[len(records)-1].Kind == node.Finished {
		return plan, false, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		return plan, false, durable.Explain(err, "read", filepath.Join(dir, "plan.json"))
	}
	if err := json.Unmarshal(text, &plan); err != nil {
		return plan, false, fmt.Errorf("cannot read the plan of the restore in %s: %w", dir, err)
	}
	return plan, true, nil
}

// Begin records a confirmed plan, or opens its journal again. The plan is written before the
// journal, which makes it count.
func (r *Restore) Begin() error {
	path := r.journalFile(r.Plan.Run)
	opened, err := journal.Open(path, r.MachineID)
	if err == nil {
		r.journal = opened
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.MarshalIndent(r.Plan, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.MkdirAll(r.file("manifests"), 0o700); err != nil {
		return err
	}
	if err := durable.WriteFile(r.file("plan.json"), append(text, '\n'), 0o600); err != nil {
		return err
	}
	r.journal, err = journal.Create(path, r.MachineID, node.Record{At: time.Now().UTC(), Boot: r.BootID, Kind: node.Opened})
	return err
}

// Close closes the journal.
func (r *Restore) Close() {
	if r.journal != nil {
		_ = r.journal.Close()
	}
}

func (r *Restore) write(record node.Record) error {
	record.At, record.Boot = time.Now().UTC(), r.BootID
	if err := r.journal.Append(record); err != nil {
		return fmt.Errorf("cannot write the journal of the restore: %w", err)
	}
	return nil
}
