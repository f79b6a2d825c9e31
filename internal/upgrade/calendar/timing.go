package calendar

import (
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// parser accepts the five fields of cron, and neither macros nor seconds.
var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// Timing is when upgrades start.
type Timing struct {
	at   time.Time // of a single start
	cron *cron.SpecSchedule
	zone *time.Location
}

// ParseTiming parses the timing of a schedule in the location of its time zone.
func ParseTiming(spec *refitv1alpha1.UpgradeScheduleSpec, zone *time.Location) (Timing, error) {
	if spec.At != nil {
		return Timing{at: spec.At.UTC()}, nil
	}
	if spec.Cron == "" {
		return Timing{}, errors.New("spec has neither cron nor at")
	}
	if spec.Cron[0] == '@' || spec.Cron[0] == 'T' || spec.Cron[0] == 'C' { // the parser would read a time zone
		return Timing{}, fmt.Errorf("cannot parse the cron expression %q: it needs five fields; macros and time zones are not supported", spec.Cron)
	}
	parsed, err := parser.Parse(spec.Cron)
	if err != nil {
		return Timing{}, fmt.Errorf("cannot parse the cron expression %q: %w", spec.Cron, err)
	}
	expression, is := parsed.(*cron.SpecSchedule)
	if !is {
		return Timing{}, fmt.Errorf("cannot use the cron expression %q: %T is not supported", spec.Cron, parsed)
	}
	expression.Location = time.UTC // it is evaluated on times of the local clock, held as UTC
	return Timing{cron: expression, zone: zone}, nil
}

// Next returns the first start after an instant, or false if there is none within five years.
func (t Timing) Next(after time.Time) (time.Time, bool) {
	if t.cron == nil {
		return t.at, t.at.After(after)
	}
	wall := t.cron.Next(LatestReading(after, t.zone))
	if wall.IsZero() {
		return time.Time{}, false
	}
	return Instant(wall, t.zone), true
}

// lookBack are the spans in which Latest looks for a start. The shorter ones come first: an
// expression may have a start in each minute.
var lookBack = []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 31 * 24 * time.Hour}

// Latest returns the last start up to now that is after an instant, or false if there is none.
func (t Timing) Latest(after, now time.Time) (time.Time, bool) {
	for _, span := range lookBack {
		if from := now.Add(-span); from.After(after) {
			if latest, ok := t.last(from, now); ok {
				return latest, true
			}
		}
	}
	return t.last(after, now)
}

func (t Timing) last(after, now time.Time) (latest time.Time, found bool) {
	for next, ok := t.Next(after); ok && !next.After(now); next, ok = t.Next(next) {
		latest, found = next, true
	}
	return latest, found
}
