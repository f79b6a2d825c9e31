package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// consider accepts an order, refuses it, or knows it already. What cannot be decided now, because the API does not answer, is looked at again.
func (a *Agent) consider(ctx context.Context, order *refitv1alpha1.NodeUpgrade) {
	err := a.accept(ctx, order)
	refusal, refused := errors.AsType[*node.Refusal](err)
	switch {
	case err == nil:
		return
	case refused:
		a.Log.Warn("order refused", "sequence", order.Spec.Sequence, "reason", refusal.Reason, "message", refusal.Message)
		a.teller.refuse(refusal)
	case ctx.Err() == nil:
		a.Log.Warn("the order cannot be judged now and is looked at again", "sequence", order.Spec.Sequence, "error", err)
		time.AfterFunc(5*time.Second, func() { a.orders.again(order) })
	}
}

// again puts an order back, unless a newer one has come.
func (l *latest) again(order *refitv1alpha1.NodeUpgrade) {
	l.mu.Lock()
	newer := l.order != nil
	l.mu.Unlock()
	if !newer {
		l.put(order)
	}
}

func (a *Agent) accept(ctx context.Context, order *refitv1alpha1.NodeUpgrade) error {
	if order.Spec.Sequence == a.memory.Sequence && order.Spec.Epoch == a.memory.Epoch && order.Spec.NodeUID == a.memory.NodeUID {
		return nil // known: its status was told, or will be
	}
	self, err := a.client.Node(ctx)
	if err != nil {
		return err
	}
	here := node.Here{NodeName: a.client.NodeName(), NodeUID: self.UID, MachineID: a.id.MachineID}
	ok, refusal := node.Accept(order.Name, &order.Spec, a.memory, here)
	if refusal != nil {
		return refusal
	}
	if !ok {
		return nil
	}
	work, err := a.workFor(ctx, order, here)
	if err != nil {
		return err
	}
	return a.take(order, work)
}

// take writes the order into the journal first and into the memory then: a kill in between takes it again, and does not lose it.
func (a *Agent) take(order *refitv1alpha1.NodeUpgrade, work *runner) error {
	spec := &order.Spec
	a.Log.Info("order accepted", "operation", spec.Operation.Name, "sequence", spec.Sequence, "permit", spec.Permit, "release", spec.Release.Name)
	if work != nil {
		a.work = work
		err := work.write(node.Record{Kind: node.Ordered, Order: &node.Order{
			Sequence: spec.Sequence, Epoch: spec.Epoch, Attempt: spec.Attempt, Permit: spec.Permit, Rollback: spec.Rollback,
		}})
		if err != nil {
			return err
		}
		a.memory.Open = filepath.Base(work.host.Dir)
		if node.Read(work.journal.Records()).Ended != "" {
			a.memory.Open = ""
		}
	}
	a.memory.Sequence, a.memory.Epoch, a.memory.NodeUID = spec.Sequence, spec.Epoch, spec.NodeUID
	if err := storeMemory(a.Settings.MemoryFile(), a.memory); err != nil {
		return err
	}
	a.know()
	a.teller.accepted()
	if work == nil {
		phase := refitv1alpha1.NodeIdle
		if spec.Permit == refitv1alpha1.PermitRollback {
			phase = refitv1alpha1.NodeRolledBack // nothing was changed, so nothing goes back
		}
		a.teller.idle(spec.Sequence, phase)
	}
	return nil
}

// workFor finds the work that an order belongs to, or opens it. An order that asks for nothing needs none.
func (a *Agent) workFor(ctx context.Context, order *refitv1alpha1.NodeUpgrade, here node.Here) (*runner, error) {
	spec := &order.Spec
	if w := a.work; w != nil {
		state := node.Read(w.journal.Records())
		same := state.Work.Operation.UID == spec.Operation.UID && state.Work.Release.Digest == spec.Release.Digest
		open := state.Ended == ""
		switch {
		case open && (same || spec.Permit == refitv1alpha1.PermitHold || spec.Permit == refitv1alpha1.PermitRollback):
			return w, nil
		case open && state.Changed() && state.Work.Release.Digest == spec.Release.Digest:
			return w, nil // another operation goes on with what one began
		case open && state.Changed():
			message := fmt.Sprintf("the change to %s that operation %s began is unfinished: put it back or finish it first",
				state.Work.Release.Name, state.Work.Operation.Name)
			return nil, &node.Refusal{Reason: node.RefusedBusy, Message: message}
		case !open && same && (state.Ended == refitv1alpha1.NodeSucceeded || spec.Attempt <= state.Order.Attempt):
			return w, nil // it is done, and told again
		}
	}
	switch spec.Permit {
	case refitv1alpha1.PermitHold, refitv1alpha1.PermitRollback:
		return nil, nil
	case refitv1alpha1.PermitPrefetch, refitv1alpha1.PermitApply:
	}
	return a.begin(ctx, order, here)
}

// begin opens a new work: its Release is verified and kept, and what the host has is looked at.
func (a *Agent) begin(ctx context.Context, order *refitv1alpha1.NodeUpgrade, here node.Here) (*runner, error) {
	release, err := a.verified(ctx, order.Spec.Release)
	if err != nil {
		return nil, err
	}
	work, err := a.survey(ctx, order, release, here)
	if err != nil {
		return nil, err
	}
	if err := a.tidy(work); err != nil {
		return nil, err
	}
	dir := fmt.Sprintf("%s-%s-%d", work.Operation.UID, work.Release.Digest[len("sha256:"):][:12], work.Attempt)
	if err := host.MkdirAll(filepath.Join(a.Settings.WorkDir(), dir), 0o700); err != nil {
		return nil, err
	}
	path := a.journalFile(dir)
	first := node.Record{At: time.Now().UTC(), Boot: a.id.BootID, Kind: node.Opened, Work: work}
	created, err := journal.Create(path, a.id.MachineID, first)
	switch {
	case errors.Is(err, fs.ErrExist): // the agent was killed before it remembered the work
	case err != nil:
		return nil, err
	default:
		if err := created.Close(); err != nil {
			return nil, err
		}
	}
	return a.open(dir)
}

func (a *Agent) journalFile(dir string) string {
	return filepath.Join(a.Settings.WorkDir(), dir, "journal")
}

// open makes a runner of a work on the disk.
func (a *Agent) open(dir string) (*runner, error) {
	j, err := journal.Open(a.journalFile(dir), a.id.MachineID)
	if err != nil {
		return nil, err
	}
	state := node.Read(j.Records())
	envelope, err := a.envelope(state.Work.Release.Digest)
	if err != nil {
		return nil, err
	}
	release, err := artifact.Verify(envelope, a.keys)
	if err != nil {
		return nil, err
	}
	return &runner{
		journal: j, boot: a.id.BootID, log: a.Log, told: a.teller.tell,
		host: &steps.Host{
			Settings: a.Settings, Memory: a.memory, Work: *state.Work, Dir: filepath.Join(a.Settings.WorkDir(), dir), Release: release,
			Store: a.store, Systemd: a.systemd, Log: a.Log, Say: a.teller.say, Effect: effectOf("none"),
		},
	}, nil
}

// tidy removes what was kept of the work before, once another one begins: nobody can want it back any more.
func (a *Agent) tidy(next *node.Work) error {
	if a.work == nil {
		return nil
	}
	state := node.Read(a.work.journal.Records())
	if err := a.work.journal.Close(); err != nil {
		a.Log.Warn("closing the former journal", "error", err)
	}
	if err := steps.Clean(a.work.host); err != nil {
		return err
	}
	if state.Work.Operation.UID != next.Operation.UID {
		return a.forgetWorks(filepath.Base(a.work.host.Dir))
	}
	return nil
}
