package backup

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
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
	spec       refitv1alpha1.BackupStoreSpec
	clusterUID string
	target     enginebackup.Target
	member     Member
	version    string // of etcd
}

func (a *Attempt) id() backup.ID {
	return backup.ID{UID: string(a.ref.UID), Attempt: int(a.ref.Attempt)}
}

// run executes the steps in order, and records the result.
func (a *Attempt) run(ctx context.Context) {
	defer a.slot.journal.Close()
	defer a.close()
	a.manager.Log.Info("backup started", "name", a.ref.Name, "uid", a.ref.UID, "attempt", a.ref.Attempt, "store", a.ref.Store)
	for _, do := range []func(context.Context) error{a.check, a.store, a.prune} {
		if err := do(ctx); err != nil {
			failure := a.explain(ctx, err)
			a.manager.Log.Error("backup failed", "step", a.status.Step, "class", failure.Class, "reason", failure.Reason, "message", failure.Text())
			a.manager.finish(a.slot, a.status, failure)
			return
		}
	}
	a.manager.finish(a.slot, a.status, nil)
}

// begin records and reports that a step starts, unless the attempt was stopped.
func (a *Attempt) begin(ctx context.Context, step string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := a.slot.write(node.Record{Kind: node.Started, Step: step}); err != nil {
		return err
	}
	a.status.Step = step
	a.manager.report(a.status)
	a.manager.point("backup-" + step + "/started")
	return nil
}

// close closes the connection to etcd.
func (a *Attempt) close() {
	if a.member != nil {
		_ = a.member.Close()
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
