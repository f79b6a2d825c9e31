package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// consider accepts an order, refuses it, or knows it already. What cannot be decided now, because the API does not answer, is looked at again.
func (a *Agent) consider(ctx context.Context, order *refitv1alpha1.NodeUpgrade) {
	err := a.accept(ctx, order)
	refusal, refused := errors.AsType[*node.Refusal](err)
	switch {
	case err == nil:
		a.orders.wait = 0
	case refused:
		a.Log.Warn("order refused", "sequence", order.Spec.Sequence, "reason", refusal.Reason, "message", refusal.Message)
		a.teller.refuse(refusal)
		a.reports.again() // what was accepted last is in it
	case ctx.Err() == nil:
		a.orders.wait = min(max(2*a.orders.wait, 5*time.Second), 5*time.Minute)
		a.Log.Warn("the order cannot be judged now and is looked at again", "sequence", order.Spec.Sequence, "in", a.orders.wait.String(), "error", err)
		a.orders.again(order, a.orders.wait)
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
	here := node.Identity{NodeName: a.client.NodeName(), NodeUID: self.UID, MachineID: a.id.MachineID}
	ok, refusal := node.Accept(order.Name, &order.Spec, a.memory, here)
	if refusal != nil {
		return refusal
	}
	if !ok {
		return nil
	}
	work, err := a.workFor(ctx, order, here)
	if failure := final(err); failure != nil {
		return a.turnDown(order, failure)
	}
	if err != nil {
		return err
	}
	return a.take(order, work)
}

// final is the failure of an order that is for this host and new, but cannot be begun. One that may pass by itself is none.
func final(err error) *node.Failure {
	if refusal, ok := errors.AsType[*node.Refusal](err); ok {
		return node.ManualIntervention(refusal.Reason, nil, "mend what the message says, then say refit retry", "%s", refusal.Message)
	}
	if failure, ok := errors.AsType[*node.Failure](err); ok && failure.Class != refitv1alpha1.FailureTransient {
		return failure
	}
	if apierrors.IsNotFound(err) {
		return node.ManualIntervention("ReleaseMissing", err, "bring the ClusterRelease into the cluster, then say refit retry", "there is no such ClusterRelease")
	}
	return nil
}

// turnDown accepts an order and says that it failed before anything was begun.
func (a *Agent) turnDown(order *refitv1alpha1.NodeUpgrade, failure *node.Failure) error {
	a.Log.Warn("order failed", "sequence", order.Spec.Sequence, "reason", failure.Reason, "message", failure.Error())
	return a.remember(&order.Spec, a.memory.Open, &node.Result{
		Sequence: order.Spec.Sequence, Phase: refitv1alpha1.NodeFailed, Failure: failure.Persistent(), At: time.Now().UTC(),
	})
}

// take writes the order into the journal first and into the memory then: a kill in between takes it again, and does not lose it.
func (a *Agent) take(order *refitv1alpha1.NodeUpgrade, work *runner) error {
	spec := &order.Spec
	a.Log.Info("order accepted", "operation", spec.Operation.Name, "sequence", spec.Sequence, "permit", spec.Permit, "release", spec.Release.Name)
	if work == nil {
		answer := &node.Result{Sequence: spec.Sequence, Phase: refitv1alpha1.NodeIdle, At: time.Now().UTC()}
		if spec.Permit == refitv1alpha1.PermitRollback {
			answer.Phase = refitv1alpha1.NodeRolledBack // nothing was changed, so nothing goes back
		}
		return a.remember(spec, "", answer)
	}
	a.work = work
	err := work.write(node.Record{Kind: node.Ordered, Order: &node.Order{
		Operation: spec.Operation.UID, Sequence: spec.Sequence, Epoch: spec.Epoch, Attempt: spec.Attempt, Permit: spec.Permit, Rollback: spec.Rollback,
	}})
	if err != nil {
		return err
	}
	open := filepath.Base(work.host.Dir)
	if node.Read(work.journal.Records()).Outcome != "" {
		open = ""
	}
	return a.remember(spec, open, nil)
}

// remember keeps the order as the highest, on the disk first.
func (a *Agent) remember(spec *refitv1alpha1.NodeUpgradeSpec, open string, answer *node.Result) error {
	next := a.memory
	next.Sequence, next.Epoch, next.NodeUID, next.Open, next.Result = spec.Sequence, spec.Epoch, spec.NodeUID, open, answer
	if err := storeMemory(a.Settings.StateFile(), next); err != nil {
		return err
	}
	a.memory = next
	a.know()
	a.teller.accepted()
	a.teller.answer(answer)
	a.reports.again()
	return nil
}

// workFor finds the work that an order belongs to, or opens it. An order that asks for nothing needs none.
func (a *Agent) workFor(ctx context.Context, order *refitv1alpha1.NodeUpgrade, here node.Identity) (*runner, error) {
	spec := &order.Spec
	forward := spec.Permit == refitv1alpha1.PermitApply || spec.Permit == refitv1alpha1.PermitPrefetch
	if w := a.work; w != nil && w.host.Upgrade.NodeUID == here.NodeUID {
		state := node.Read(w.journal.Records())
		same := state.Upgrade.Operation.UID == spec.Operation.UID && state.Upgrade.Release.Digest == spec.Release.Digest
		open, touched := state.Outcome == "", state.Changed()
		switch {
		case open && !forward:
			return w, nil
		case open && touched && (same || state.Upgrade.Release.Digest == spec.Release.Digest):
			return w, nil // also where another operation goes on with what one began
		case open && touched:
			message := fmt.Sprintf("the change to %s that operation %s began is unfinished: put it back or finish it first",
				state.Upgrade.Release.Name, state.Upgrade.Operation.Name)
			return nil, &node.Refusal{Reason: node.RefusedBusy, Message: message}
		case !open && same && (state.Outcome == refitv1alpha1.NodeSucceeded || spec.Attempt <= state.Order.Attempt):
			if spec.Permit == refitv1alpha1.PermitRollback {
				err := w.refusal(ctx)
				return w, err
			}
			return w, nil // it is done, and told again
		}
	}
	if !forward {
		return nil, nil
	}
	// Nothing was changed yet. What the host is may have changed since it was looked at last, also by the person who says retry.
	return a.begin(ctx, order, here)
}

// begin opens a new work: its ClusterRelease is verified and kept, and what the host has is looked at.
func (a *Agent) begin(ctx context.Context, order *refitv1alpha1.NodeUpgrade, here node.Identity) (*runner, error) {
	release, err := a.verified(ctx, order.Spec.Release)
	if err != nil {
		return nil, err
	}
	work, err := a.survey(ctx, order, release, here)
	if err != nil {
		return nil, err
	}
	dir, err := workName(work)
	if err != nil {
		return nil, err
	}
	if a.work != nil && filepath.Base(a.work.host.Dir) == dir {
		return a.work, nil // everything is as it was
	}
	if err := a.tidy(ctx, work, release); err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(filepath.Join(a.Settings.UpgradesDir(), dir), 0o700); err != nil {
		return nil, err
	}
	path := a.journalFile(dir)
	first := node.Record{At: time.Now().UTC(), Boot: a.id.BootID, Kind: node.Opened, Upgrade: work}
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

// workName tells one work from another: whatever differs makes another one.
func workName(w *node.Upgrade) (string, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "work-" + hex.EncodeToString(sum[:8]), nil
}

func (a *Agent) journalFile(dir string) string {
	return filepath.Join(a.Settings.UpgradesDir(), dir, "journal")
}

// open makes a runner of a work on the disk.
func (a *Agent) open(dir string) (*runner, error) {
	j, err := journal.Open(a.journalFile(dir), a.id.MachineID)
	if err != nil {
		return nil, err
	}
	state := node.Read(j.Records())
	envelope, err := a.envelope(state.Upgrade.Release.Digest)
	if err != nil {
		return nil, err
	}
	// It was verified when the work was accepted. Keys may have changed since; what was begun must be finished or undone all the same.
	release, err := artifact.Unverified(envelope)
	if err != nil {
		return nil, err
	}
	if release.Digest != state.Upgrade.Release.Digest {
		return nil, node.HostBroken("ReleaseDamaged", nil, "put the ClusterRelease's envelope back to "+a.envelopeFile(state.Upgrade.Release.Digest),
			"the ClusterRelease that was kept is not the one that was accepted")
	}
	return &runner{
		journal: j, boot: a.id.BootID, log: a.Log, told: a.teller.tell,
		host: &steps.Host{
			Settings: a.Settings, HostState: a.memory, Upgrade: *state.Upgrade, Dir: filepath.Join(a.Settings.UpgradesDir(), dir), Release: release,
			Store: a.store, Systemd: a.systemd, Log: a.Log, ReportWait: a.teller.say, Effect: effectOf("none"),
		},
	}, nil
}

// tidy removes what was kept of the work before, once another one begins: nobody can want it back any more.
func (a *Agent) tidy(ctx context.Context, next *node.Upgrade, release artifact.Release) error {
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
	last, was := filepath.Base(a.work.host.Dir), a.work.host.Release
	a.work = nil
	if state.Upgrade.Operation.UID == next.Operation.UID {
		return nil
	}
	if state.Outcome == refitv1alpha1.NodeSucceeded { // otherwise the host may still be at the ClusterRelease before
		a.unpinAllBut(ctx, was, release)
	}
	return a.forget(last, release)
}
