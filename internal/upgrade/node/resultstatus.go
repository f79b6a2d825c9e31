package node

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Status returns the status of an order that did not lead to an upgrade.
func (r *Result) Status() refitv1alpha1.NodeUpgradeStatus {
	out := refitv1alpha1.NodeUpgradeStatus{ObservedSequence: r.Sequence, Phase: r.Phase}
	if r.Failure != nil {
		SetFailure(&out, r.Failure, r.At)
	}
	return out
}

// SetFailure sets the failure of a status that has no journal.
func SetFailure(status *refitv1alpha1.NodeUpgradeStatus, f *Failure, since time.Time) {
	status.CompletionTime = stamp(since)
	f = f.Persistent() // the API rejects longer texts
	status.Error = &refitv1alpha1.NodeError{Class: f.Class, Reason: f.Reason, Message: f.Message, Remedy: f.Remedy, LogTail: f.LogTail}
	if status.CompletionTime != nil {
		status.Error.At = *status.CompletionTime
	}
}

// CorrectUnresumed replaces the phase of a host whose upgrade was neither finished nor rolled back:
// it must not count as unchanged. The failure is nil for every other host.
func CorrectUnresumed(status *refitv1alpha1.NodeUpgradeStatus, unresumed *Failure, at time.Time) {
	if unresumed != nil && (status.Phase == refitv1alpha1.NodeRolledBack || status.Phase == refitv1alpha1.NodeIdle) {
		status.Phase = refitv1alpha1.NodeFailed
		SetFailure(status, unresumed, at)
	}
}
