package progress

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/calendar"
)

// NextStarts is how many starts of a schedule a document lists.
const NextStarts = 5

// NewSchedules lists schedules by name. zone returns the location of a time zone.
func NewSchedules(
	cluster string, all []refitv1alpha1.UpgradeSchedule, now time.Time, zone func(string) (*time.Location, error),
) *cliv1alpha1.Schedules {
	out := &cliv1alpha1.Schedules{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindSchedules, Cluster: cluster, Schedules: []cliv1alpha1.ScheduleState{},
	}
	for i := range all {
		out.Schedules = append(out.Schedules, newScheduleState(&all[i], now, zone))
	}
	slices.SortFunc(out.Schedules, func(a, b cliv1alpha1.ScheduleState) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// NewSchedule describes a schedule.
func NewSchedule(
	cluster string, s *refitv1alpha1.UpgradeSchedule, now time.Time, zone func(string) (*time.Location, error),
) *cliv1alpha1.Schedule {
	return &cliv1alpha1.Schedule{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindSchedule, Cluster: cluster, ScheduleState: newScheduleState(s, now, zone),
	}
}

func newScheduleState(s *refitv1alpha1.UpgradeSchedule, now time.Time, zone func(string) (*time.Location, error)) cliv1alpha1.ScheduleState {
	spec, status := &s.Spec, &s.Status
	out := cliv1alpha1.ScheduleState{
		Name: s.Name, Cron: spec.Cron, TimeZone: spec.TimeZone, Follow: string(spec.Channel.Follow), Lag: spec.Channel.Lag,
		MinAgeSeconds: int64(spec.Channel.MinAge.Seconds()),
		Approval:      string(spec.Template.Approval), Suspended: spec.Suspend, NextStarts: nextStarts(spec, now, zone),
		LastResult: string(status.LastResult), LastMessage: status.LastMessage, LastOperation: status.LastOperation,
	}
	if spec.At != nil {
		out.At = spec.At.UTC()
	}
	if status.LastScheduleTime != nil {
		out.LastTime = status.LastScheduleTime.UTC()
	}
	if t := status.Target; t != nil {
		out.Target = cliv1alpha1.ScheduleTarget{From: t.From, Kubernetes: t.Kubernetes, Release: t.Release, Message: t.Message}
	}
	ready := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionReady)
	if ready == nil || ready.ObservedGeneration < s.Generation {
		out.Message = "the controller has not read it yet"
		return out
	}
	out.Ready, out.Message = ready.Status == metav1.ConditionTrue, ready.Message
	return out
}

// nextStarts are the next starts. A timing that cannot be used has none; its condition has the
// cause.
func nextStarts(spec *refitv1alpha1.UpgradeScheduleSpec, now time.Time, zone func(string) (*time.Location, error)) (out []time.Time) {
	location, err := zone(spec.TimeZone)
	if err != nil || spec.Suspend {
		return nil
	}
	timing, err := calendar.ParseTiming(spec, location)
	if err != nil {
		return nil
	}
	for next, ok := timing.Next(now); ok && len(out) < NextStarts; next, ok = timing.Next(next) {
		out = append(out, next.In(location))
	}
	return out
}

// ScheduleVerb returns the result of suspending or resuming a schedule.
func ScheduleVerb(cluster string, s *refitv1alpha1.UpgradeSchedule, suspend bool) *cliv1alpha1.ScheduleChange {
	out := &cliv1alpha1.ScheduleChange{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindScheduleChange, Cluster: cluster, Schedule: s.Name,
		Verb: "resume", Changed: s.Spec.Suspend != suspend,
	}
	if suspend {
		out.Verb = "suspend"
	}
	switch {
	case suspend && out.Changed:
		out.Message = "The schedule " + s.Name + " is suspended: it starts no upgrades. Upgrades in progress continue."
	case suspend:
		out.Message = "The schedule " + s.Name + " was suspended already."
	case out.Changed:
		out.Message = "The schedule " + s.Name + " is resumed. It makes up for no start of the meantime."
	default:
		out.Message = "The schedule " + s.Name + " was not suspended."
	}
	return out
}
