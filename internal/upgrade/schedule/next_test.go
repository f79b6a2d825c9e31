package schedule

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// weekly is a schedule for each Tuesday at 01:00 that was created a month ago.
func weekly(changes ...func(*refitv1alpha1.UpgradeSchedule)) *refitv1alpha1.UpgradeSchedule {
	s := &refitv1alpha1.UpgradeSchedule{ObjectMeta: metav1.ObjectMeta{Name: "weekly", CreationTimestamp: metav1.NewTime(now.Add(-30 * day))}}
	s.Spec = channel(refitv1alpha1.FollowPatch, 0, 0)
	s.Spec.Cron, s.Spec.TimeZone, s.Spec.StartingDeadline = "0 1 * * 2", "UTC", metav1.Duration{Duration: 6 * time.Hour}
	for _, change := range changes {
		change(s)
	}
	return s
}

func operation(name string, ended bool, age time.Duration) refitv1alpha1.ClusterUpgrade {
	u := refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(now.Add(-age))}}
	u.Spec.Target.Release = "v1-35-5"
	if ended {
		u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	}
	return u
}

var newer = Target{From: skew.Version{Major: 1, Minor: 35, Patch: 4}, Version: skew.Version{Major: 1, Minor: 35, Patch: 5}, Release: "v1-35-5", Message: "newer"}

// tuesday is the start of the week of now.
var tuesday = time.Date(2026, 11, 3, 1, 0, 0, 0, time.UTC)

func stamp(t time.Time) *metav1.Time {
	m := metav1.NewTime(t)
	return &m
}

func TestNext(t *testing.T) {
	handled := func(s *refitv1alpha1.UpgradeSchedule) { s.Status.LastScheduleTime = stamp(tuesday) }
	running, ended := operation("manual", false, time.Hour), operation("old", true, 9*day)
	name := OperationName("weekly", tuesday)
	for situation, test := range map[string]struct {
		schedule   *refitv1alpha1.UpgradeSchedule
		now        time.Time
		operations []refitv1alpha1.ClusterUpgrade
		target     Target
		want       string // the result and a part of the message
	}{
		"the start is due":                      {weekly(), tuesday, []refitv1alpha1.ClusterUpgrade{ended}, newer, "start " + name},
		"it is not due yet":                     {weekly(handled), tuesday.Add(time.Hour), nil, newer, "none"},
		"it is late, within the deadline":       {weekly(), tuesday.Add(6 * time.Hour), nil, newer, "start " + name},
		"it is later than the deadline":         {weekly(), tuesday.Add(6*time.Hour + time.Second), nil, newer, "Missed the start of 2026-11-03T01:00:00Z did not take place until its deadline, 2026-11-03T07:00:00Z"},
		"it was executed before the crash":      {weekly(), tuesday.Add(time.Minute), []refitv1alpha1.ClusterUpgrade{operation(name, false, 0)}, newer, "Started the upgrade to v1-35-5 was created"},
		"it was executed, and noticed too late": {weekly(), tuesday.Add(2 * day), []refitv1alpha1.ClusterUpgrade{operation(name, true, day)}, newer, "Started the upgrade"},
		"another upgrade is in progress":        {weekly(), tuesday, []refitv1alpha1.ClusterUpgrade{ended, running}, newer, "Skipped ClusterUpgrade manual had not ended at 2026-11-03T01:00:00Z"},
		"nothing is newer":                      {weekly(), tuesday, nil, Target{From: newer.From, Message: "nothing newer"}, "NothingNewer nothing newer"},
		"the version is unknown":                {weekly(), tuesday, nil, Target{Message: "unknown"}, "wait unknown"},
		"it is suspended":                       {weekly(func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Suspend = true }), tuesday, nil, newer, "none"},
		"it was resumed since": {weekly(func(s *refitv1alpha1.UpgradeSchedule) {
			s.Status.StartsFrom = stamp(now.Add(-20 * day))
		}), tuesday.Add(time.Hour), nil, newer, "none"},
		"its timing was changed since": {weekly(func(s *refitv1alpha1.UpgradeSchedule) {
			s.Status.StartsFrom, s.Status.Timing = stamp(now.Add(-20*day)), "0 3 * * * UTC"
		}), tuesday.Add(time.Hour), nil, newer, "none"},
		"another field was changed since": {weekly(func(s *refitv1alpha1.UpgradeSchedule) {
			s.Status.StartsFrom, s.Status.Timing, s.Generation = stamp(now.Add(-20*day)), "0 1 * * 2 UTC", 7
		}), tuesday.Add(time.Hour), nil, newer, "start " + name},
		"the clock was set back":     {weekly(handled), tuesday.Add(-7 * day), nil, newer, "none"},
		"many starts were missed":    {weekly(func(s *refitv1alpha1.UpgradeSchedule) { s.CreationTimestamp = metav1.NewTime(now.Add(-400 * day)) }), tuesday, nil, newer, "start " + name},
		"the expression is wrong":    {weekly(func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Cron = "0 25 * * *" }), tuesday, nil, newer, "invalid"},
		"a single start is due":      {weekly(func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Cron, s.Spec.At = "", stamp(tuesday) }), tuesday, nil, newer, "start " + name},
		"a single start was handled": {weekly(handled, func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Cron, s.Spec.At = "", stamp(tuesday) }), tuesday.Add(time.Minute), nil, newer, "none"},
		"a single start before the creation": {weekly(func(s *refitv1alpha1.UpgradeSchedule) {
			s.Spec.Cron, s.Spec.At, s.CreationTimestamp = "", stamp(tuesday), metav1.NewTime(tuesday.Add(time.Second))
		}), tuesday.Add(time.Minute), nil, newer, "none"},
	} {
		t.Run(situation, func(t *testing.T) {
			d := Next(&Observation{Schedule: test.schedule, Zone: time.UTC, Operations: test.operations, Target: test.target, Now: test.now})
			if got := describe(&d); !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func describe(d *Decision) string {
	switch {
	case d.Invalid != nil:
		return "invalid: " + d.Invalid.Error()
	case d.Start != nil:
		return "start " + d.Operation
	case d.Result != "":
		return string(d.Result) + " " + d.Message
	case !d.Time.IsZero():
		return "wait " + d.Message
	}
	return "none"
}

func TestConditions(t *testing.T) {
	for want, test := range map[string]struct {
		schedule *refitv1alpha1.UpgradeSchedule
		zone     error
		now      time.Time
		slot     string
		failure  error
	}{
		"True Scheduled: the next start is at 2026-11-10T01:00:00Z":                                                {weekly(), nil, tuesday.Add(time.Hour), "0", nil},
		"True Suspended: spec.suspend is set":                                                                      {weekly(func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Suspend = true }), nil, now, "", nil},
		"True NoFurtherStart: the time of the schedule has passed":                                                 {weekly(func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Cron, s.Spec.At = "", stamp(now.Add(-40*day)) }), nil, now, "0", nil},
		"False InvalidTiming: cannot use the time zone \"UTC\": unknown":                                           {weekly(), errors.New("unknown"), now, "0", nil},
		"False InvalidTiming: the cron expression \"0 1 30 2 *\" has no start within the next five years":          {weekly(func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Cron = "0 1 30 2 *" }), nil, now, "0", nil},
		"False TooManySchedules: 8 older UpgradeSchedules are in effect, which is the maximum. Delete one of them": {weekly(), nil, tuesday.Add(time.Hour), "", nil},
		"False StartFailed: forbidden":                                                                             {weekly(), nil, tuesday, "0", errors.New("forbidden")},
	} {
		t.Run(want, func(t *testing.T) {
			if test.now.Equal(tuesday.Add(time.Hour)) {
				test.schedule.Status.LastScheduleTime = stamp(tuesday)
			}
			d := Next(&Observation{Schedule: test.schedule, Zone: time.UTC, ZoneError: test.zone, Target: newer, Now: test.now})
			Apply(test.schedule, &d, &newer, test.slot, test.failure, test.now)
			ready := meta.FindStatusCondition(test.schedule.Status.Conditions, refitv1alpha1.ConditionReady)
			if got := string(ready.Status) + " " + ready.Reason + ": " + ready.Message; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			stalled := meta.IsStatusConditionTrue(test.schedule.Status.Conditions, refitv1alpha1.ConditionStalled)
			if stalled != (ready.Status == metav1.ConditionFalse) {
				t.Errorf("it is stalled: %v", stalled)
			}
		})
	}
}

func TestAResumedScheduleMakesUpForNothing(t *testing.T) {
	s := weekly()
	at := func(now time.Time) Decision {
		d := Next(&Observation{Schedule: s, Zone: time.UTC, Target: newer, Now: now})
		if d.Start != nil {
			d.Result = refitv1alpha1.StartStarted
		}
		Apply(s, &d, &newer, "0", nil, now)
		return d
	}
	if d := at(tuesday.Add(-time.Hour)); d.Result != refitv1alpha1.StartMissed { // the week before
		t.Fatalf("got %+v", d)
	}
	s.Spec.Suspend = true
	at(tuesday.Add(-time.Minute))
	if s.Status.NextScheduleTime != nil {
		t.Errorf("the next start of a suspended schedule is %s", s.Status.NextScheduleTime)
	}
	s.Spec.Suspend = false
	if d := at(tuesday.Add(time.Hour)); d.Result != "" {
		t.Errorf("after it was resumed: %+v", d)
	}
	if d := at(tuesday.Add(7 * day)); d.Operation != OperationName("weekly", tuesday.Add(7*day)) || s.Status.LastOperation != d.Operation {
		t.Errorf("a week later: %+v", d)
	}
}

func TestTheOperationHasTheTemplateVerbatim(t *testing.T) {
	schedule := map[string]any{"spec": map[string]any{"template": map[string]any{"approval": "None", "backup": map[string]any{"maxAge": "24h"}, "later": "x"}}}
	got := Operation(schedule, "weekly", "3", &Start{Time: tuesday, Target: newer})
	spec, _ := got["spec"].(map[string]any)
	if len(spec) != 4 || spec["later"] != "x" || spec["approval"] != "None" {
		t.Errorf("the spec is %v", spec)
	}
	metadata, _ := got["metadata"].(map[string]any)
	if metadata["name"] != "weekly-29894460" {
		t.Errorf("the name is %v", metadata["name"])
	}
}
