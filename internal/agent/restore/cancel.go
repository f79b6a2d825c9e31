package restore

import (
	"context"
	"errors"
	"os"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Canceled is an open restore that an operator may cancel.
type Canceled struct {
	Restore *Restore
	// Final is why it cannot be canceled, empty if it can.
	Final string
}

// PrepareCancel finds the open restore of this host. It changes nothing.
func (d *Desk) PrepareCancel(ctx context.Context) (Canceled, error) {
	plan, open, err := d.Site.Open()
	if err != nil {
		return Canceled{}, err
	}
	if !open {
		return Canceled{}, errors.New("no restore is open on this host")
	}
	d.For(plan.Member)
	c := Canceled{Restore: d.restore(plan)}
	records, err := journal.Read(d.journalFile(plan.Run), d.MachineID)
	if err == nil {
		c.Final = restore.Final(plan.Situation, records, c.Restore.serving(ctx))
	}
	return c, err
}

// serving observes what of the restored cluster serves.
func (r *Restore) serving(ctx context.Context) restore.Serving {
	return restore.Serving{Members: r.missing(ctx, memberNames(r.Plan)...) == nil, APIServer: exists(r.live(kubeadm.APIServer))}
}

// Cancel moves the old data and the manifests back, and removes the restored data. Each effect can
// be repeated: after an error, run it again.
func (r *Restore) Cancel(ctx context.Context) error {
	if !restore.Canceling(r.journal.Records()) {
		if err := r.write(node.Record{Kind: node.RollbackStarted}); err != nil {
			return err
		}
	}
	r.point("cancel/started")
	// The record separates it from the removal, after which old and restored data look the same.
	if !restore.MovedBack(r.journal.Records()) {
		if err := r.moveBack(ctx); err != nil {
			return err
		}
		if err := r.write(node.Record{Kind: node.Undone, Step: restore.MoveData}); err != nil {
			return err
		}
	}
	r.point("cancel/moved")
	if err := r.startOld(); err != nil {
		return err
	}
	r.point("cancel/restarted")
	if err := r.removeRestored(); err != nil {
		return err
	}
	return r.finish()
}

// stopForCancel stops etcd if it may run with the restored data, also if its manifest is gone: an
// earlier cancellation may have ended before etcd did. The API server is stopped, or runs with the
// old data.
func (r *Restore) stopForCancel(ctx context.Context) error {
	if !r.dataMoved() {
		return nil
	}
	r.Progress("stopping etcd")
	return r.stopEtcd(ctx)
}

// dataMoved reports whether the old data is not in its place.
func (r *Restore) dataMoved() bool { return exists(r.OldData()) || r.newInPlace() }

// moveBack moves the restored data away and the old data back.
func (r *Restore) moveBack(ctx context.Context) error {
	if err := r.stopForCancel(ctx); err != nil {
		return err
	}
	if r.newInPlace() {
		r.Progress("moving the restored data away")
		if err := durable.RenameNew(r.member(), r.beside("canceled")); err != nil {
			return durable.Explain(err, "move away", r.member())
		}
	}
	r.point("cancel/away")
	if !exists(r.OldData()) {
		return nil
	}
	r.Progress("moving the old data back")
	return durable.Explain(durable.RenameNew(r.OldData(), r.member()), "move back", r.OldData())
}

// startOld moves the manifests back. It does not wait: the old data may not serve.
func (r *Restore) startOld() error {
	for _, component := range []string{kubeadm.Etcd, kubeadm.APIServer} {
		if !exists(r.parked(component)) {
			continue
		}
		r.Progress("starting " + component)
		if err := r.unpark(component); err != nil {
			return err
		}
	}
	return nil
}

// removeRestored removes the restored data, which the backup still has.
func (r *Restore) removeRestored() error {
	for _, dir := range []string{r.beside("new"), r.beside("canceled")} {
		if err := os.RemoveAll(dir); err != nil {
			return durable.Explain(err, "remove", dir)
		}
	}
	return durable.Remove(r.beside())
}
