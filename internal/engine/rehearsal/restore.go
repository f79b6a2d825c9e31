package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// snapshotPath is the path of the backup in a sandbox.
const snapshotPath = "/.refit/backup.db"

// utility runs etcdutl of a mounted image on the backup.
func (r *Runner) utility(ctx context.Context, unit, image, snapshot string, args []string) (sandbox.Outcome, error) {
	binary, err := find(image, "etcdutl")
	if err != nil {
		return sandbox.Outcome{}, err
	}
	return r.task(ctx, sandbox.Unit{
		Name: unit, Description: "Refit: drill of a backup", Command: append([]string{binary}, args...),
		// The pages of the files count, but the kernel reclaims them.
		Bounds: background(1<<30, r.Timeouts.Restore),
		Sandbox: &sandbox.Sandbox{
			ReadOnly: []sandbox.Bind{{Host: image, Path: rehearsal.Image}, {Host: snapshot, Path: snapshotPath}},
			Writable: []sandbox.Bind{r.scratch()},
		},
	})
}

// status returns the figures of the backup's file.
func (r *Runner) status(ctx context.Context, image, snapshot string) (rehearsal.Figures, error) {
	outcome, err := r.utility(ctx, unitStatus, image, snapshot, rehearsal.Status(snapshotPath))
	if err != nil {
		return rehearsal.Figures{}, err
	}
	if outcome.Failed() {
		return rehearsal.Figures{}, r.broken("BackupCorrupted", "cannot read the backup", "Take another backup", unitStatus, outcome)
	}
	text, err := os.ReadFile(r.file(unitStatus + ".out"))
	if err != nil {
		return rehearsal.Figures{}, err
	}
	var answer struct {
		Hash      uint32 `json:"hash"`
		Revision  int64  `json:"revision"`
		TotalKey  int64  `json:"totalKey"`
		TotalSize int64  `json:"totalSize"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return rehearsal.Figures{}, fmt.Errorf("cannot parse the figures of the backup: %w", err)
	}
	return rehearsal.Figures{Revision: answer.Revision, Keys: answer.TotalKey, Hash: answer.Hash, Bytes: answer.TotalSize}, nil
}

// readRestored adds the figures of the restored database, before etcd starts on it.
func (r *Runner) readRestored(ctx context.Context, figures rehearsal.Figures) (rehearsal.Figures, error) {
	outcome, err := r.task(ctx, sandbox.Unit{
		Name: unitRead, Description: "Refit: drill of a backup",
		Command: []string{rehearsal.Agent, Command, "--report=" + rehearsal.Scratch + "/" + reportName, "--database=" + rehearsal.Database},
		Bounds:  background(512<<20, r.Timeouts.Restore),
		Sandbox: &sandbox.Sandbox{ReadOnly: []sandbox.Bind{{Host: r.Agent, Path: rehearsal.Agent}}, Writable: []sandbox.Bind{r.scratch()}},
	})
	if err != nil {
		return figures, err
	}
	if outcome.Failed() {
		return figures, r.broken("RestoreFailed", "cannot read the restored backup", "Take another backup", unitRead, outcome)
	}
	report, err := r.report()
	if err != nil {
		return figures, err
	}
	if report.Error != "" {
		return figures, node.ManualIntervention("RestoreFailed", nil, "Take another backup", "cannot read the restored backup: %s", report.Error)
	}
	figures.Revision, figures.Entries, figures.EntriesHash = report.Restored.Revision, report.Restored.Entries, report.Restored.EntriesHash
	return figures, nil
}

// restore restores the backup into the scratch directory.
func (r *Runner) restore(ctx context.Context, image, snapshot string) error {
	outcome, err := r.utility(ctx, unitRestore, image, snapshot, rehearsal.Restore(snapshotPath))
	if err != nil {
		return err
	}
	if outcome.Failed() {
		return r.broken("RestoreFailed", "cannot restore the backup", "Take another backup", unitRestore, outcome)
	}
	return nil
}
