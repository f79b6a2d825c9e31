package backup

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// Manager takes backups, one at a time. Its methods belong to one goroutine; the attempt runs in
// another one.
type Manager struct {
	// Dir is the directory of the slots.
	Dir string
	// Machine and Boot identify the host and its boot.
	Machine, Boot string
	Log           *slog.Logger
	Environment   Environment
	// Report is called with each new state, also from the goroutine of the attempt.
	Report func(*refitv1alpha1.NodeBackupStatus)
	// Point is called around each record of a journal; tests stop there. It may be nil.
	Point func(name string)

	running sync.WaitGroup
	// cleaned is closed when the leftovers of a killed agent are removed.
	cleaned chan struct{}           // nil if nothing was left
	cancel  context.CancelCauseFunc // of the attempt; nil if none runs
	ended   chan struct{}           // closed when the attempt has ended
}

// Resume reports the last attempt, and ends one that was interrupted. Another goroutine removes the
// leftovers of its drill.
func (m *Manager) Resume(ctx context.Context) error {
	m.cleanLeftovers(ctx)
	names, err := m.slots()
	if err != nil {
		return err
	}
	for _, name := range names {
		last, err := m.openSlot(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // interrupted before the attempt had a journal
		}
		if err != nil {
			m.repair(name, err)
			continue
		}
		if err := m.endInterrupted(last); err != nil {
			m.Log.Error("cannot remove the files of the last backup", "slot", name, "error", err)
		}
	}
	return nil
}

// endInterrupted records that an attempt without an end has failed.
func (m *Manager) endInterrupted(last *slot) error {
	defer last.journal.Close()
	status := last.status()
	if !status.Ended() {
		m.finish(last, status, node.Transient("Interrupted", nil, "Refit starts the next attempt", "refit-agent was stopped during the backup"))
		return nil
	}
	m.Report(status)
	return m.clean(last)
}

// Open creates the slot of an attempt and removes those of earlier ones. For an attempt that was
// opened before it returns nil: it has ended, and is reported again.
func (m *Manager) Open(ref refitv1alpha1.BackupRef) (*Attempt, error) {
	m.stop(errors.New("another backup was ordered"))
	if err := m.removeOthers(slotName(ref)); err != nil {
		return nil, err
	}
	created, err := m.createSlot(ref)
	if errors.Is(err, fs.ErrExist) {
		again, err := m.openSlot(slotName(ref))
		if err != nil {
			return nil, err
		}
		return nil, m.endInterrupted(again)
	}
	if err != nil {
		return nil, err
	}
	m.point("backup-open/done")
	return &Attempt{manager: m, slot: created, ref: ref, status: created.status()}, nil
}

// Run runs an attempt in another goroutine until it ends, the context ends, or it is stopped.
func (m *Manager) Run(ctx context.Context, a *Attempt) {
	ctx, m.cancel = context.WithCancelCause(ctx)
	ended := make(chan struct{})
	m.ended = ended
	m.running.Go(func() {
		defer close(ended)
		m.awaitClean(ctx, a)
		bounded, cancel := context.WithTimeout(ctx, orders.BackupTimeout-5*time.Minute)
		defer cancel()
		a.guarded(bounded)
	})
}

// Refuse ends an attempt before it starts.
func (m *Manager) Refuse(a *Attempt, failure *node.Failure) {
	m.finish(a.slot, a.status, failure)
	_ = a.slot.journal.Close()
}

// Running reports whether an attempt runs.
func (m *Manager) Running() bool {
	if m.cancel == nil {
		return false
	}
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

// Stop stops the running attempt, if there is one, and waits until it has ended.
func (m *Manager) Stop(why string) { m.stop(errors.New(why)) }

func (m *Manager) stop(why error) {
	if m.cancel == nil {
		return
	}
	m.cancel(why)
	m.cancel = nil
	<-m.ended
}

// Wait waits until no attempt runs.
func (m *Manager) Wait() { m.running.Wait() }

// finish records and reports the result of an attempt, and removes its copy of the database.
func (m *Manager) finish(s *slot, status *refitv1alpha1.NodeBackupStatus, failure *node.Failure) {
	result := *status
	result.Phase, result.Error = refitv1alpha1.BackupSucceeded, nil
	if failure != nil {
		result.Phase, result.BackupResult = refitv1alpha1.BackupFailed, refitv1alpha1.BackupResult{}
		result.Error = errorOf(failure, result.Step)
	}
	result.Step, result.Message = "", ""
	if err := m.clean(s); err != nil {
		m.Log.Error("cannot remove the files of the backup", "error", err)
	}
	m.point("backup-finish/started")
	if err := s.write(node.Record{Kind: node.Finished, Backup: &result}); err != nil {
		m.Log.Error("cannot record the result of the backup", "error", err)
	}
	m.point("backup-finish/done")
	log := m.Log.With("uid", result.UID, "attempt", result.Attempt, "phase", result.Phase)
	if failure != nil {
		log.Error("backup ended", "step", result.Error.Step, "reason", result.Error.Reason, "message", result.Error.Message)
	} else {
		log.Info("backup ended", "revision", result.Revision, "size", result.Size)
	}
	m.Report(&result)
}

func errorOf(f *node.Failure, step string) *refitv1alpha1.BackupError {
	return &refitv1alpha1.BackupError{
		Class: f.Class, Reason: f.Reason, Step: step, Message: f.Text(), Remedy: refitv1alpha1.Clip(node.Redact(f.Remedy), refitv1alpha1.MaxMessage),
		At: metav1.NewTime(time.Now().UTC().Truncate(time.Second)),
	}
}
