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

// handle accepts an order, refuses it, or ignores a known one. It retries an order that cannot be
// judged because the API is unavailable.
func (a *Agent) handle(ctx context.Context, order *refitv1alpha1.NodeUpgrade) {
	err := a.accept(ctx, order)
	refusal, refused := errors.AsType[*node.Refusal](err)
	switch {
	case err == nil:
		a.orders.wait, a.orders.tries = 0, 0
	case refused:
		a.Log.Warn("order refused", "sequence", order.Spec.Sequence, "reason", refusal.Reason, "message", refusal.Message)
		a.status.setRefusal(refusal)
		a.reports.trigger() // contains the last accepted order
	case ctx.Err() == nil:
		a.orders.tries++
		a.orders.wait = min(max(2*a.orders.wait, 5*time.Second), 5*time.Minute)
		if a.orders.tries >= reportedTries {
			a.status.setRefusal(notJudged(err))
		}
		a.Log.Warn("cannot judge the order; retrying", "sequence", order.Spec.Sequence, "in", a.orders.wait.String(), "error", err)
		a.orders.requeue(order, a.orders.wait)
	}
}

func (a *Agent) accept(ctx context.Context, order *refitv1alpha1.NodeUpgrade) error {
	if order.Spec.Sequence == a.state.Sequence && order.Spec.Epoch == a.state.Epoch && order.Spec.NodeUID == a.state.NodeUID {
		return nil // known; its status is reported separately
	}
	self, err := a.client.Node(ctx)
	if err != nil {
		return err
	}
	identity := node.Identity{NodeName: a.client.NodeName(), NodeUID: self.UID, MachineID: a.id.MachineID}
	ok, refusal := node.Accept(order.Name, &order.Spec, a.state, identity, time.Now())
	if refusal != nil {
		return refusal
	}
	if !ok {
		return nil
	}
	upgrade, err := a.upgradeFor(ctx, order, identity)
	if err != nil {
		return a.cannotStart(ctx, order, err)
	}
	attempt, err := a.openBackup(&order.Spec)
	if err != nil {
		return err
	}
	if err := a.start(order, upgrade); err != nil {
		return err
	}
	if order.Spec.Permit != refitv1alpha1.PermitBackup {
		a.endBackup("the agent has the order " + string(order.Spec.Permit))
	}
	a.runBackup(ctx, attempt)
	return nil
}

// permanent returns the failure of a new order for this host that cannot start, or nil if the
// failure may be temporary.
func permanent(err error) *node.Failure {
	if refusal, ok := errors.AsType[*node.Refusal](err); ok {
		return node.ManualIntervention(refusal.Reason, nil, "Fix the cause in the message, then run `refit retry`", "%s", refusal.Message)
	}
	if failure, ok := errors.AsType[*node.Failure](err); ok && failure.Class != refitv1alpha1.FailureTransient {
		return failure
	}
	if apierrors.IsNotFound(err) {
		return node.ManualIntervention("ReleaseMissing", err,
			"Apply the ClusterRelease to the cluster, then run `refit retry`", "the ClusterRelease does not exist")
	}
	return nil
}

// reject accepts an order and reports that it failed before it started.
func (a *Agent) reject(order *refitv1alpha1.NodeUpgrade, failure *node.Failure) error {
	a.Log.Warn("order failed", "sequence", order.Spec.Sequence, "reason", failure.Reason, "message", failure.Error())
	return a.remember(&order.Spec, a.state.Open, &node.Result{
		Sequence: order.Spec.Sequence, Phase: refitv1alpha1.NodeFailed, Failure: failure.Persistent(), At: time.Now().UTC(),
	})
}

// start writes the order to the journal first and to the host state second: a kill in between
// repeats the order instead of losing it.
func (a *Agent) start(order *refitv1alpha1.NodeUpgrade, upgrade *runner) error {
	spec := &order.Spec
	a.Log.Info("order accepted", "operation", spec.Operation.Name, "sequence", spec.Sequence, "permit", spec.Permit, "release", spec.Release.Name)
	if upgrade == nil {
		result := &node.Result{Sequence: spec.Sequence, Phase: refitv1alpha1.NodeIdle, At: time.Now().UTC()}
		switch {
		case a.state.Unresumed != nil:
			result.Phase, result.Failure = refitv1alpha1.NodeFailed, a.state.Unresumed
		case spec.Permit == refitv1alpha1.PermitRollback:
			result.Phase = refitv1alpha1.NodeRolledBack // nothing was changed
		}
		return a.remember(spec, "", result)
	}
	a.upgrade = upgrade
	err := upgrade.write(node.Record{Kind: node.Ordered, Order: &node.Order{
		Operation: spec.Operation.UID, Sequence: spec.Sequence, Epoch: spec.Epoch, Attempt: spec.Attempt, Permit: spec.Permit, Rollback: spec.Rollback,
		NotAfter: node.NotAfter(spec),
	}})
	if err != nil {
		return err
	}
	open := filepath.Base(upgrade.host.Dir)
	if node.Read(upgrade.journal.Records()).Outcome != "" {
		open = ""
	}
	return a.remember(spec, open, nil)
}

// remember stores the order as the highest one, on disk first.
func (a *Agent) remember(spec *refitv1alpha1.NodeUpgradeSpec, open string, result *node.Result) error {
	next := a.state
	next.Sequence, next.Epoch, next.NodeUID, next.Open, next.Result = spec.Sequence, spec.Epoch, spec.NodeUID, open, result
	if err := saveState(a.Settings.StateFile(), next); err != nil {
		return err
	}
	a.state = next
	a.updateReportState()
	a.status.setHost(next)
	a.status.clearRefusal()
	a.status.setResult(result)
	a.reports.trigger()
	return nil
}

// upgradeFor returns the upgrade that an order belongs to, or opens one. An order without a change
// needs none.
func (a *Agent) upgradeFor(ctx context.Context, order *refitv1alpha1.NodeUpgrade, identity node.Identity) (*runner, error) {
	spec := &order.Spec
	forward := spec.Permit == refitv1alpha1.PermitApply || spec.Permit == refitv1alpha1.PermitPrefetch
	if err := a.leaveIfRejoined(identity); err != nil {
		return nil, err
	}
	if w := a.upgrade; w != nil && (w.host.Upgrade.NodeUID == identity.NodeUID || w.unfinished()) {
		state := node.Read(w.journal.Records())
		same := state.Upgrade.Operation.UID == spec.Operation.UID && state.Upgrade.Release.Digest == spec.Release.Digest
		open, touched := state.Outcome == "", state.Changed()
		switch {
		case open && !forward:
			return w, nil
		case open && touched && (same || state.Upgrade.Release.Digest == spec.Release.Digest):
			return w, nil // even if another operation continues it
		case open && touched:
			message := fmt.Sprintf("the upgrade to %s by operation %s is unfinished: finish it or roll it back first",
				state.Upgrade.Release.Name, state.Upgrade.Operation.Name)
			return nil, &node.Refusal{Reason: node.RefusedBusy, Message: message}
		case !open && same && (state.Outcome == refitv1alpha1.NodeSucceeded || spec.Attempt <= state.Order.Attempt):
			if spec.Permit == refitv1alpha1.PermitRollback {
				err := w.refusal(ctx)
				return w, err
			}
			return w, nil // done; reported again
		}
	}
	if !forward {
		return nil, nil
	}
	// Nothing was changed yet. The host may have changed since the last survey, also by an operator
	// before a retry.
	return a.open(ctx, order, identity)
}

// open starts a new upgrade: it verifies and keeps the ClusterRelease, and surveys the host.
func (a *Agent) open(ctx context.Context, order *refitv1alpha1.NodeUpgrade, identity node.Identity) (*runner, error) {
	release, err := a.verified(ctx, order.Spec.Release)
	if err != nil {
		return nil, err
	}
	upgrade, err := a.survey(ctx, order, release, identity)
	if err != nil {
		return nil, &surveyError{err}
	}
	return a.enter(ctx, order.Spec.Permit, upgrade, release)
}

// enter returns the runner of an upgrade: the present one if nothing has changed, or one with a
// journal of its own. A host that applies is drained, and installs what its prefetch has fetched.
func (a *Agent) enter(ctx context.Context, permit refitv1alpha1.Permit, upgrade *node.Upgrade, release artifact.Release) (*runner, error) {
	if permit == refitv1alpha1.PermitApply && a.upgrade != nil {
		upgrade.LimitTo(&a.upgrade.host.Upgrade)
	}
	dir, err := upgradeName(upgrade)
	if err != nil {
		return nil, err
	}
	if a.upgrade != nil && filepath.Base(a.upgrade.host.Dir) == dir {
		return a.upgrade, nil // nothing has changed
	}
	if err := a.tidy(ctx, upgrade, release); err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(filepath.Join(a.Settings.UpgradesDir(), dir), 0o700); err != nil {
		return nil, err
	}
	path := a.journalFile(dir)
	first := node.Record{At: time.Now().UTC(), Boot: a.id.BootID, Kind: node.Opened, Upgrade: upgrade}
	created, err := journal.Create(path, a.id.MachineID, first)
	switch {
	case errors.Is(err, fs.ErrExist): // the agent was killed before it stored the state
	case err != nil:
		return nil, err
	default:
		if err := created.Close(); err != nil {
			return nil, err
		}
	}
	return a.load(dir)
}

// upgradeName returns a name that differs for every difference between upgrades.
func upgradeName(u *node.Upgrade) (string, error) {
	text, err := json.Marshal(u)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "upgrade-" + hex.EncodeToString(sum[:8]), nil
}

func (a *Agent) journalFile(dir string) string {
	return filepath.Join(a.Settings.UpgradesDir(), dir, "journal")
}

// load returns a runner for an upgrade on disk.
func (a *Agent) load(dir string) (*runner, error) {
	j, err := journal.Open(a.journalFile(dir), a.id.MachineID)
	if err != nil {
		return nil, err
	}
	state := node.Read(j.Records())
	envelope, err := a.envelope(state.Upgrade.Release.Digest)
	if err != nil {
		return nil, err
	}
	// It was verified when it was accepted. Keys may have changed, but a changed host must still be
	// finished or rolled back; check-host verifies it again before the first change.
	if _, err := a.verify(envelope); err != nil {
		a.Log.Warn("no key that is pinned now has signed the ClusterRelease of the upgrade", "upgrade", dir, "error", err)
	}
	release, err := artifact.Unverified(envelope)
	if err != nil {
		return nil, err
	}
	if release.Digest != state.Upgrade.Release.Digest {
		return nil, node.HostBroken("ReleaseDamaged", nil, "Restore the envelope of the ClusterRelease in "+a.envelopeFile(state.Upgrade.Release.Digest),
			"the stored ClusterRelease is not the accepted one")
	}
	return &runner{
		journal: j, boot: a.id.BootID, log: a.Log, changed: a.status.setState, bounded: a.status.setDeadline,
		late: func(move node.Move) bool {
			now, known := a.clock.now()
			return known && node.Read(j.Records()).Late(move, now) != nil
		},
		host: &steps.Host{
			Settings: a.Settings, HostState: a.state, Upgrade: *state.Upgrade, Dir: filepath.Join(a.Settings.UpgradesDir(), dir), Release: release,
			Store: a.store, Systemd: a.systemd, Log: a.Log, ReportWait: a.status.setWaiting, Effect: effectOf("none"),
			CheckRelease: a.checkRelease(envelope),
		},
	}, nil
}

// tidy removes the rollback files of the previous upgrade once another one starts.
func (a *Agent) tidy(ctx context.Context, next *node.Upgrade, release artifact.Release) error {
	if a.upgrade == nil {
		return nil
	}
	state := node.Read(a.upgrade.journal.Records())
	if err := a.upgrade.journal.Close(); err != nil {
		a.Log.Warn("cannot close the previous journal", "error", err)
	}
	if err := steps.Clean(a.upgrade.host); err != nil {
		return err
	}
	last, was := filepath.Base(a.upgrade.host.Dir), a.upgrade.host.Release
	a.upgrade = nil
	if state.Upgrade.Operation.UID == next.Operation.UID {
		return nil
	}
	if state.Outcome == refitv1alpha1.NodeSucceeded {
		// Otherwise the host may still run the previous ClusterRelease.
		a.unpinAllBut(ctx, was, release)
	}
	return a.forget(last, release)
}
