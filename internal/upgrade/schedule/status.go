package schedule

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// maxMessage is the length of each message in the status.
const maxMessage = 512

// Apply writes a decision into the status. slot is the slot of the schedule, empty if there is
// none; failure is why the start that is due failed.
func Apply(s *refitv1alpha1.UpgradeSchedule, d *Decision, target *Target, slot string, failure error, now time.Time) {
	from := metav1.NewTime(startsFrom(s, now).UTC().Truncate(time.Second))
	status := &s.Status
	status.ObservedGeneration, status.StartsFrom, status.Timing = s.Generation, &from, refitv1alpha1.Clip(timingText(&s.Spec), 256)
	status.NextScheduleTime = nil
	if !d.Next.IsZero() {
		next := metav1.NewTime(d.Next.UTC())
		status.NextScheduleTime = &next
	}
	status.Target = &refitv1alpha1.ScheduleTarget{
		From: target.From.String(), Kubernetes: target.Version.String(), Release: target.Release, Message: refitv1alpha1.Clip(target.Message, maxMessage),
	}
	if d.Result != "" {
		last := metav1.NewTime(d.Time.UTC())
		status.LastScheduleTime, status.LastResult, status.LastMessage = &last, d.Result, refitv1alpha1.Clip(d.Message, maxMessage)
		if d.Operation != "" {
			status.LastOperation = d.Operation
		}
	}
	setConditions(s, conditionOf(s, d, slot, failure), now)
}

// condition is the state of a schedule: Ready, or Stalled if it requires manual intervention.
type condition struct {
	ready, stalled  bool
	reason, message string
}

func conditionOf(s *refitv1alpha1.UpgradeSchedule, d *Decision, slot string, failure error) condition {
	switch {
	case d.Invalid != nil:
		return condition{stalled: true, reason: refitv1alpha1.ReasonInvalidTiming, message: d.Invalid.Error()}
	case s.Spec.Suspend:
		return condition{ready: true, reason: refitv1alpha1.ReasonSuspended, message: "spec.suspend is set"}
	case slot == "":
		return condition{stalled: true, reason: refitv1alpha1.ReasonTooManySchedules, message: fmt.Sprintf(
			"%d older UpgradeSchedules are in effect, which is the maximum. Delete one of them", refitv1alpha1.ScheduleSlots)}
	case failure != nil:
		return condition{stalled: true, reason: refitv1alpha1.ReasonStartFailed, message: failure.Error()}
	case d.Result == "" && !d.Time.IsZero():
		return condition{reason: refitv1alpha1.ReasonStartFailed, message: fmt.Sprintf("the start of %s waits: %s", rfc3339(d.Time), d.Message)}
	case d.Next.IsZero() && s.Spec.At == nil:
		return condition{stalled: true, reason: refitv1alpha1.ReasonInvalidTiming, message: fmt.Sprintf(
			"the cron expression %q has no start within the next five years", s.Spec.Cron)}
	case d.Next.IsZero():
		return condition{ready: true, reason: refitv1alpha1.ReasonNoFurtherStart, message: "the time of the schedule has passed"}
	}
	return condition{ready: true, reason: refitv1alpha1.ReasonScheduled, message: "the next start is at " + rfc3339(d.Next)}
}

func setConditions(s *refitv1alpha1.UpgradeSchedule, c condition, now time.Time) {
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	set := func(kind string, is bool) {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: c.reason, Message: refitv1alpha1.Clip(c.message, maxMessage),
			ObservedGeneration: s.Generation, LastTransitionTime: at,
		})
	}
	set(refitv1alpha1.ConditionReady, c.ready)
	set(refitv1alpha1.ConditionStalled, c.stalled)
}

// failureOf is why the last attempt of the start that is due failed, empty if none did.
func failureOf(s *refitv1alpha1.UpgradeSchedule) string {
	if c := meta.FindStatusCondition(s.Status.Conditions, refitv1alpha1.ConditionReady); c != nil &&
		(c.Reason == refitv1alpha1.ReasonStartFailed || c.Reason == refitv1alpha1.ReasonTooManySchedules) {
		return c.Message
	}
	return ""
}
