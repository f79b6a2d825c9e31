package etcdbackup

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The reasons of the conditions of an EtcdBackup, besides those of failures.
const (
	// ReasonStoreMissing: the BackupStore does not exist.
	ReasonStoreMissing = "StoreMissing"
	// ReasonAttemptFailed: an attempt has failed, and the next one starts soon.
	ReasonAttemptFailed = "AttemptFailed"
	// ReasonNoSuitableNode: no control plane node can take the backup now.
	ReasonNoSuitableNode = "NoSuitableNode"
	// ReasonUpgradeInProgress: an operation that does not rely on the backup upgrades the control
	// plane.
	ReasonUpgradeInProgress = "UpgradeInProgress"
	// ReasonBackupDeleted: retention has deleted the backup from its store.
	ReasonBackupDeleted = "BackupDeleted"
)

// Apply sets the status that follows from an action.
func Apply(b *refitv1alpha1.EtcdBackup, a *Action, now time.Time) {
	s := &b.Status
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	switch a.Kind {
	case Start:
		s.Node, s.Attempt, s.StartTime, s.Error, s.Location = a.Node.Name, s.Attempt+1, &at, nil, a.Location
	case Follow, Finish:
		s.BackupResult = a.Progress.BackupResult
		if a.Kind == Finish {
			s.StartTime, s.Error, s.Object = nil, nil, a.Object
		}
	case EndAttempt, Withdraw:
		s.StartTime, s.Error, s.BackupResult, s.Object, s.Location = nil, during(s.StartTime, a.Failure, at), refitv1alpha1.BackupResult{}, "", ""
	case Nothing, Waiting, RequestReport, GiveOrder:
	}
	setConditions(b, a, at)
}

// during returns the failure of an attempt that started at a time and ends now. An agent whose
// clock is wrong reports another time, and later waits are counted from it.
func during(started *metav1.Time, failure *refitv1alpha1.BackupError, now metav1.Time) *refitv1alpha1.BackupError {
	out := *failure
	if out.At.After(now.Time) || started != nil && out.At.Before(started) {
		out.At = now
	}
	return &out
}

// setConditions sets Ready, Reconciling and Stalled.
func setConditions(b *refitv1alpha1.EtcdBackup, a *Action, at metav1.Time) {
	s := &b.Status
	s.ObservedGeneration = b.Generation
	switch failed := s.StartTime == nil && s.Error != nil; {
	case s.Deleted != nil:
		set(b, at, metav1.ConditionFalse, false, false, ReasonBackupDeleted, "Retention has deleted the backup from BackupStore "+b.Spec.Store)
	case s.ReadBack != nil && s.StartTime == nil:
		set(b, at, metav1.ConditionTrue, false, false, refitv1alpha1.ReasonSucceeded, succeeded(s))
	case failed && s.Attempt >= refitv1alpha1.MaxBackupAttempts:
		set(b, at, metav1.ConditionFalse, false, true, s.Error.Reason,
			fmt.Sprintf("Attempt %d failed, which is the last: %s. %s", s.Attempt, s.Error.Message, s.Error.Remedy))
	case a.Wait != nil:
		set(b, at, metav1.ConditionFalse, !a.Wait.Stalled, a.Wait.Stalled, a.Wait.Reason, a.Wait.Message)
	case failed:
		set(b, at, metav1.ConditionFalse, true, false, refitv1alpha1.ReasonProgressing, fmt.Sprintf("Attempt %d failed: %s", s.Attempt, s.Error.Message))
	case a.Kind == RequestReport:
		set(b, at, metav1.ConditionFalse, true, false, refitv1alpha1.ReasonProgressing, "Waiting for reports of control plane nodes")
	default:
		set(b, at, metav1.ConditionFalse, true, false, refitv1alpha1.ReasonProgressing,
			fmt.Sprintf("Attempt %d on %s%s", s.Attempt, s.Node, stepOf(a.Progress)))
	}
}

// succeeded describes how far a backup is proven.
func succeeded(s *refitv1alpha1.EtcdBackupStatus) string {
	switch findings := findings(s); {
	case s.Drilled == nil:
		return "The backup is stored and was read back"
	case len(s.Rehearsed) == 0:
		return "The backup is stored, read back and restored in a drill"
	case findings == 0:
		return fmt.Sprintf("The backup is stored, read back and restored in a drill; %s runs on its data", s.Rehearsed[len(s.Rehearsed)-1].Kubernetes)
	default:
		return fmt.Sprintf("The backup is stored, read back and restored in a drill; the rehearsal has %d findings in status.rehearsed", findings)
	}
}

// findings counts the findings of a rehearsal.
func findings(s *refitv1alpha1.EtcdBackupStatus) (n int64) {
	for _, hop := range s.Rehearsed {
		n += int64(len(hop.Findings)) + hop.MoreFindings
	}
	return n
}

// stepOf describes what an agent does.
func stepOf(progress *refitv1alpha1.NodeBackupStatus) string {
	switch {
	case progress == nil || progress.Step == "":
		return ""
	case progress.Message == "":
		return ", step " + progress.Step
	}
	return ", step " + progress.Step + ": " + progress.Message
}

func set(b *refitv1alpha1.EtcdBackup, at metav1.Time, ready metav1.ConditionStatus, reconciling, stalled bool, reason, message string) {
	for kind, status := range map[string]metav1.ConditionStatus{
		refitv1alpha1.ConditionReady:       ready,
		refitv1alpha1.ConditionReconciling: conditionStatus(reconciling),
		refitv1alpha1.ConditionStalled:     conditionStatus(stalled),
	} {
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: refitv1alpha1.Clip(message, refitv1alpha1.MaxConditionMessage),
			ObservedGeneration: b.Generation, LastTransitionTime: at,
		})
	}
}

func conditionStatus(yes bool) metav1.ConditionStatus {
	if yes {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
