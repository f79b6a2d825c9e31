package rehearsal

import (
	"context"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// Backup is a decrypted backup on this host.
type Backup struct {
	File string // of the database, as etcd's Snapshot call streams it
	// EtcdImage is the image of the version that made it, which a restore would use.
	EtcdImage string
	Expected  rehearsal.Figures
}

// DrillResult is the result of a drill that succeeded.
type DrillResult struct {
	Figures rehearsal.Figures
	Took    time.Duration
}

// Drill restores a backup, starts etcd on it and compares it with its record. An error is a backup
// that must not be relied on, or a host that could not try it.
func (r *Runner) Drill(ctx context.Context, b Backup) (result DrillResult, err error) {
	start := time.Now()
	err = r.within(ctx, b.File, func(ctx context.Context) error {
		result.Figures, err = r.drill(ctx, b)
		return err
	})
	result.Took = time.Since(start)
	return result, err
}

// within runs work between two cleanups.
func (r *Runner) within(ctx context.Context, snapshot string, work func(context.Context) error) error {
	lock, err := r.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	r.progress("", "removing leftovers", cleanupTimeout)
	if err := r.clean(ctx); err != nil {
		return err
	}
	err = r.prepare(snapshot)
	if err == nil {
		err = work(ctx)
	}
	r.progress("", "removing the scratch etcd", cleanupTimeout)
	return joinCleanup(ctx, err, r.clean)
}

// drill restores and compares a backup. It leaves the restored data, with etcd stopped.
func (r *Runner) drill(ctx context.Context, b Backup) (rehearsal.Figures, error) {
	r.progress("", "mounting "+b.EtcdImage, r.Timeouts.Mount)
	image, err := r.mount(ctx, "etcd", b.EtcdImage)
	if err != nil {
		return rehearsal.Figures{}, err
	}
	r.progress("", "reading the figures of the backup", r.Timeouts.Restore)
	figures, err := r.status(ctx, image, b.File)
	if err != nil {
		return figures, err
	}
	r.progress("", "restoring the backup", r.Timeouts.Restore)
	if err := r.restore(ctx, image, b.File); err != nil {
		return figures, err
	}
	r.progress("", "reading the restored data", r.Timeouts.Restore)
	if figures, err = r.readRestored(ctx, figures); err != nil {
		return figures, err
	}
	r.progress("", "starting etcd on the restored data", r.Timeouts.Etcd)
	if err := r.startEtcd(ctx, image, rehearsal.Manifest{}, drillMemory(figures), r.Timeouts.Etcd+2*reportMargin); err != nil {
		return figures, err
	}
	figures, err = r.hash(ctx, figures, b.Expected)
	err = joinCleanup(ctx, err, func(ctx context.Context) error { return r.Units.Stop(ctx, unitEtcd) })
	if err != nil {
		return figures, err
	}
	if err := rehearsal.Compare(b.Expected, figures); err != nil {
		return figures, node.ManualIntervention("BackupDiffers", err, "Take another backup", "the restored backup differs from its record")
	}
	return figures, nil
}

// hash adds etcd's hash of the keys to the figures.
func (r *Runner) hash(ctx context.Context, figures, expected rehearsal.Figures) (rehearsal.Figures, error) {
	revision := expected.HashRevision
	if revision == 0 {
		revision = figures.Revision
	}
	report, ended, err := r.queryEtcd(ctx, "--hash", "--revision="+itoa(revision))
	if err != nil {
		return figures, err
	}
	// etcd may also end between the last observation and the report of a request that failed.
	etcd, err := r.Units.Outcome(ctx, unitEtcd)
	if err != nil {
		return figures, err
	}
	switch {
	case ended != "" || report.Error != "" && etcd.Ended:
		return figures, r.broken("RestoreFailed", "etcd does not run on the restored backup", "Take another backup", unitEtcd, etcd)
	case report.TimedOut:
		return figures, r.broken("RestoreFailed", "etcd does not serve the restored backup in time", "Take another backup", unitEtcd, etcd)
	case report.Error != "":
		return figures, node.ManualIntervention("RestoreFailed", nil, "Take another backup", "etcd does not serve the restored backup: %s", report.Error)
	}
	figures.HashKV, figures.HashRevision, figures.CompactRevision = report.HashKV, report.HashRevision, report.CompactRevision
	return figures, nil
}

// drillMemory bounds etcd in a drill.
func drillMemory(f rehearsal.Figures) uint64 {
	return rehearsal.EtcdMemory(rehearsal.Data{Keys: uint64(f.Entries)})
}
