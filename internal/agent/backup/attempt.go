package backup

import (
	"context"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Attempt is one attempt of a backup.
type Attempt struct {
	manager *Manager
	slot    *slot
	ref     refitv1alpha1.BackupRef
	status  *refitv1alpha1.NodeBackupStatus

	// Set by check.
	request    refitv1alpha1.EtcdBackupSpec
	spec       refitv1alpha1.BackupStoreSpec
	clusterUID string
	target     enginebackup.Target
	member     Member
	version    string // of etcd
	size       int64  // of its database
	trial      *trial // nil without a drill

	// content is that of the snapshot.
	content etcd.SnapshotContent
}

func (a *Attempt) id() backup.ID {
	return backup.ID{UID: string(a.ref.UID), Attempt: int(a.ref.Attempt)}
}

// run executes the steps in order, and records the result.
func (a *Attempt) run(ctx context.Context) {
	defer a.close()
	a.manager.Log.Info("backup started", "name", a.ref.Name, "uid", a.ref.UID, "attempt", a.ref.Attempt, "store", a.ref.Store)
	for _, do := range []func(context.Context) error{a.check, a.fetchHops, a.store, a.drill, a.prune} {
		if err := do(ctx); err != nil {
			a.fail(ctx, a.explain(ctx, err))
			return
		}
	}
	a.manager.finish(a.slot, a.status, nil)
}

// fail records that the attempt failed.
func (a *Attempt) fail(ctx context.Context, failure *node.Failure) {
	a.manager.Log.Error("backup failed", "step", a.status.Step, "class", failure.Class, "reason", failure.Reason, "message", failure.Text(),
		"log", failure.Persistent().LogTail)
	if slices.Contains(damaged, failure.Reason) {
		a.discard(ctx)
	}
	a.manager.finish(a.slot, a.status, failure)
}

// begin records and reports that a step starts, unless the attempt was stopped.
func (a *Attempt) begin(ctx context.Context, step string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := a.slot.write(node.Record{Kind: node.Started, Step: step}); err != nil {
		return err
	}
	a.status.Step, a.status.Message = step, ""
	a.manager.Log.Info("backup step started", "name", a.ref.Name, "attempt", a.ref.Attempt, "step", step)
	a.manager.report(a.status)
	a.manager.point("backup-" + step + "/started")
	return nil
}

// waits reports what the step waits for; an empty reason ends the wait.
func (a *Attempt) waits(reason string) {
	a.status.Message = refitv1alpha1.Clip(node.Redact(reason), refitv1alpha1.MaxMessage)
	if reason != "" {
		a.manager.Log.Info("backup in progress", "step", a.status.Step, "message", reason)
	}
	a.manager.report(a.status)
}

// damaged are the reasons of failures that prove a stored backup bad. After any other failure it is
// as good as when it was read back, and retention decides about it.
var damaged = []string{"StoreCorrupt", "SnapshotChanged", "BackupCorrupted", "RestoreFailed", "BackupDiffers"}

// discard deletes what a failed attempt has stored, unless a drill has proven it, and its record: a
// restore must not choose it.
func (a *Attempt) discard(ctx context.Context) {
	if a.status.Digest == "" || a.status.Drilled != nil {
		return
	}
	enginebackup.Discard(ctx, a.target, a.id())
	if a.manager.Environment.Forget == nil {
		return
	}
	if err := a.manager.Environment.Forget(a.id()); err != nil {
		a.manager.Log.Warn("cannot remove the record of a bad backup on this host", "error", err)
	}
}

// close closes the connections to etcd and systemd.
func (a *Attempt) close() {
	if a.member != nil {
		_ = a.member.Close()
	}
	if a.trial != nil && a.trial.runner != nil {
		a.trial.runner.Close()
	}
}

// report reports a copy: the attempt continues to change its own.
func (m *Manager) report(status *refitv1alpha1.NodeBackupStatus) {
	copied := *status
	m.Report(&copied)
}

func (m *Manager) point(name string) {
	if m.Point != nil {
		m.Point(name)
	}
}
