package component

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Refusal is why an order is refused.
type Refusal struct{ Reason, Message string }

// The reasons of refusals.
const (
	RefusedSequence = "StaleSequence"
	RefusedEpoch    = "StaleEpoch"
	RefusedBusy     = "UpgradeInProgress"
)

// Accept returns the status after an order, or why the order is refused. An order that continues
// the journal keeps it: one that only changes the permit, a retry, and one of another operation for
// the same change if that has started. Any other one starts a new journal, once the recorded steps
// have ended: an operation that orders a change which has ended has found that it is undone.
func Accept(spec *refitv1alpha1.ComponentUpgradeSpec, status refitv1alpha1.ComponentUpgradeStatus) (refitv1alpha1.ComponentUpgradeStatus, *Refusal) {
	if status.Order == nil {
		return newJournal(spec), nil
	}
	order := *status.Order
	switch {
	case spec.Epoch < order.Epoch:
		return status, &Refusal{RefusedEpoch, fmt.Sprintf("the order has epoch %d, but epoch %d was accepted: its author is no longer the leader",
			spec.Epoch, order.Epoch)}
	case spec.Sequence < status.ObservedSequence:
		return status, &Refusal{RefusedSequence, fmt.Sprintf("the order has sequence %d, but sequence %d was accepted: the order is stale",
			spec.Sequence, status.ObservedSequence)}
	case spec.Sequence == status.ObservedSequence:
		return status, nil
	}
	same := order.Release == spec.Release && order.Version == spec.Version && order.Action == spec.Action
	another := order.Operation.UID != spec.Operation.UID
	retry := spec.Attempt > status.Attempt || another
	switch {
	case ended(status) && (!same || another || retry && status.Phase == refitv1alpha1.ComponentRolledBack):
		return newJournal(spec), nil
	case !ended(status) && Replaceable(status) && (!same || another || order.Digest != spec.Digest):
		return newJournal(spec), nil
	case !same && !ended(status):
		return status, &Refusal{RefusedBusy, fmt.Sprintf("the %s to %q of ClusterUpgrade %s has not ended", order.Action, order.Version, order.Operation.Name)}
	}
	order.Epoch = spec.Epoch
	status.Order, status.ObservedSequence = &order, spec.Sequence
	if retry && !ended(status) {
		status = retried(status)
	}
	status.Attempt = max(status.Attempt, spec.Attempt)
	return status, nil
}

func newJournal(spec *refitv1alpha1.ComponentUpgradeSpec) refitv1alpha1.ComponentUpgradeStatus {
	return refitv1alpha1.ComponentUpgradeStatus{
		ObservedSequence: spec.Sequence, Journal: spec.Sequence, Attempt: spec.Attempt, Phase: refitv1alpha1.ComponentIdle,
		Order: &refitv1alpha1.ComponentOrder{
			Operation: spec.Operation, Epoch: spec.Epoch, Release: spec.Release, Version: spec.Version, Action: spec.Action,
			Kubernetes: spec.Kubernetes, Digest: spec.Digest,
		},
	}
}

// retried is Retry for a status whose recipe is not known.
func retried(status refitv1alpha1.ComponentUpgradeStatus) refitv1alpha1.ComponentUpgradeStatus {
	if status.Phase != refitv1alpha1.ComponentFailed {
		return status
	}
	status.Phase, status.Error, status.CompletionTime = refitv1alpha1.ComponentApplying, nil, nil
	if status.RollingBack {
		status.Phase = refitv1alpha1.ComponentRollingBack
	}
	if status.Frozen != nil && status.Frozen.Lifted {
		status.Frozen = nil
		status.Steps = withoutStep(status.Steps, string(StepFreeze))
	}
	return status
}

func withoutStep(steps []refitv1alpha1.StepStatus, name string) (kept []refitv1alpha1.StepStatus) {
	for _, step := range steps {
		if step.Name != name {
			kept = append(kept, step)
		}
	}
	return kept
}

func ended(status refitv1alpha1.ComponentUpgradeStatus) bool {
	return status.Phase == refitv1alpha1.ComponentSucceeded || status.Phase == refitv1alpha1.ComponentRolledBack
}

// Replaceable reports whether a journal can be given up: nothing is frozen, no step is open, and
// none has started that changes what runs. An open check does not count, since it only reads.
func Replaceable(status refitv1alpha1.ComponentUpgradeStatus) bool {
	if status.Frozen != nil || status.RollingBack {
		return false
	}
	for _, step := range status.Steps {
		open := step.State == refitv1alpha1.StepRunning && step.Name != string(StepCheck)
		if open || changes(step.Name) {
			return false
		}
	}
	return true
}

// changes reports whether a step changes what runs, by its name: the recipe of a former order may
// not exist any more. An unknown one may.
func changes(name string) bool {
	for _, d := range definitions {
		if name == string(d.kind) {
			return d.changes || d.kind == StepCommit
		}
	}
	return true
}
