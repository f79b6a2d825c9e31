package schedule

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/calendar"
)

// Observation is what a decision about a schedule is made on.
type Observation struct {
	Schedule *refitv1alpha1.UpgradeSchedule
	// Zone is the location of the schedule's time zone, nil with ZoneError.
	Zone      *time.Location
	ZoneError error
	// Operations are all ClusterUpgrades. They must be current once a start is due.
	Operations []refitv1alpha1.ClusterUpgrade
	Target     Target
	Now        time.Time
}

// Decision is what becomes of a schedule.
type Decision struct {
	// Start is the upgrade to create, nil if there is none.
	Start *Start
	// Result is the result of the start that is due, empty if there is none or it must be retried.
	Result refitv1alpha1.StartResult
	// Time is the scheduled time of that start.
	Time time.Time
	// Operation is the ClusterUpgrade of the start.
	Operation string
	// Message describes the result, or why the start has to wait.
	Message string
	// Next is the next start, zero if there is none.
	Next time.Time
	// Invalid is why the timing cannot be used.
	Invalid error
}

// Start is a start to execute.
type Start struct {
	Time   time.Time
	Target Target
}

// Due returns the start that is due, or false if there is none. Of several, the last one counts.
func Due(obs *Observation) (time.Time, bool) {
	timing, err := obs.timing()
	if err != nil || obs.Schedule.Spec.Suspend {
		return time.Time{}, false
	}
	return timing.Latest(obs.from(), obs.Now)
}

func (o *Observation) timing() (calendar.Timing, error) {
	if o.ZoneError != nil {
		return calendar.Timing{}, fmt.Errorf("cannot use the time zone %q: %w", o.Schedule.Spec.TimeZone, o.ZoneError)
	}
	return calendar.ParseTiming(&o.Schedule.Spec, o.Zone)
}

// from is since when starts count: none is repeated, and a change of the timing makes up for none.
func (o *Observation) from() time.Time {
	from := startsFrom(o.Schedule, o.Now)
	if last := o.Schedule.Status.LastScheduleTime; last != nil && last.After(from) {
		return last.Time
	}
	return from
}

// startsFrom is status.startsFrom, as it is after this decision.
func startsFrom(s *refitv1alpha1.UpgradeSchedule, now time.Time) time.Time {
	switch recorded := s.Status.StartsFrom; {
	case recorded == nil:
		return s.CreationTimestamp.Time
	case s.Status.Timing == timingText(&s.Spec):
		return recorded.Time
	}
	return now
}

// timingText is status.timing.
func timingText(spec *refitv1alpha1.UpgradeScheduleSpec) string {
	switch {
	case spec.Suspend:
		return ""
	case spec.At != nil:
		return spec.At.UTC().Format(time.RFC3339)
	}
	return spec.Cron + " " + spec.TimeZone
}

// Next decides what becomes of a schedule.
func Next(obs *Observation) Decision {
	timing, err := obs.timing()
	if err != nil || obs.Schedule.Spec.Suspend {
		return Decision{Invalid: err}
	}
	out := Decision{}
	if next, ok := timing.Next(obs.Now); ok {
		out.Next = next
	}
	due, is := timing.Latest(obs.from(), obs.Now)
	if !is {
		return out
	}
	out.Time = due
	out.decide(obs)
	return out
}

// decide sets the result of the start that is due.
func (d *Decision) decide(obs *Observation) {
	s := obs.Schedule
	name, deadline := OperationName(s.Name, d.Time), d.Time.Add(s.Spec.StartingDeadline.Duration)
	if existing := obs.operation(name); existing != nil {
		d.Result, d.Operation, d.Message = refitv1alpha1.StartStarted, name, started(existing.Spec.Target)
		return
	}
	blocking := obs.unfinished()
	switch {
	case obs.Now.After(deadline):
		d.Result = refitv1alpha1.StartMissed
		d.Message = fmt.Sprintf("the start of %s did not take place until its deadline, %s", rfc3339(d.Time), rfc3339(deadline))
		if m := failureOf(s); m != "" {
			d.Message += ": " + m
		}
	case blocking != "":
		d.Result, d.Message = refitv1alpha1.StartSkipped, fmt.Sprintf("ClusterUpgrade %s had not ended at %s", blocking, rfc3339(d.Time))
	case obs.Target.Unknown():
		d.Message = obs.Target.Message
	case obs.Target.None():
		d.Result, d.Message = refitv1alpha1.StartNothingNewer, obs.Target.Message
	default:
		d.Start, d.Operation, d.Message = &Start{Time: d.Time, Target: obs.Target}, name, started(refitv1alpha1.Target{Release: obs.Target.Release})
	}
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// started describes a start that created a ClusterUpgrade.
func started(target refitv1alpha1.Target) string {
	return "the upgrade to " + target.Release + target.Kubernetes + " was created"
}

// operation returns the ClusterUpgrade of a name, nil if there is none.
func (o *Observation) operation(name string) *refitv1alpha1.ClusterUpgrade {
	for i := range o.Operations {
		if o.Operations[i].Name == name {
			return &o.Operations[i]
		}
	}
	return nil
}

// unfinished is the oldest operation that has not ended, empty if there is none.
func (o *Observation) unfinished() string {
	var oldest *refitv1alpha1.ClusterUpgrade
	for i := range o.Operations {
		u := &o.Operations[i]
		if !u.HasEnded() && (oldest == nil || u.CreationTimestamp.Before(&oldest.CreationTimestamp)) {
			oldest = u
		}
	}
	if oldest == nil {
		return ""
	}
	return oldest.Name
}
