package restore

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// finishInterval is the interval between two checks of a pending restore.
const finishInterval = 5 * time.Second

// Finish completes a restore that waits for the members on other hosts: it starts the API server
// once every member serves. It returns nil if no restore is open. An interrupted restore is left to
// its operator, and Finish waits, because nothing else may change the control plane meanwhile.
func Finish(ctx context.Context, r *Restore, log *slog.Logger) error {
	plan, open, err := r.Open()
	if err != nil || !open {
		return err
	}
	r.Plan = plan
	var logged string
	var at time.Time
	for {
		err := r.finishPending(ctx)
		if err == nil {
			log.Info("the restore of etcd is complete", "run", plan.Run)
			return nil
		}
		// Another reason may need an operator.
		if text := err.Error(); text != logged && time.Since(at) > reportInterval {
			log.Warn("waiting for a restore of etcd", "run", plan.Run, "error", err)
			logged, at = text, time.Now()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(finishInterval):
		}
	}
}

// errInterrupted is the reason to wait for an operator.
var errInterrupted = errors.New("a restore of etcd was interrupted: run `refit-agent restore --yes` to continue it, " +
	"or `refit-agent restore --cancel --yes` to cancel it")

// finishPending runs the last step if all others are done.
func (r *Restore) finishPending(ctx context.Context) error {
	records, err := journal.Read(r.journalFile(r.Plan.Run), r.MachineID)
	if err != nil {
		return err
	}
	step, more := restore.Next(r.Plan.Situation, records)
	if restore.Canceling(records) || more && step.Name != restore.StartAPIServer {
		return errInterrupted
	}
	// Without records of its own until the members serve: it checks for hours.
	if more {
		if err := r.awaitMembers(ctx); err != nil {
			return err
		}
	}
	if err := r.Begin(); err != nil {
		return err
	}
	defer r.Close()
	return r.Execute(ctx)
}
