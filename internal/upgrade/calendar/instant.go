package calendar

import (
	"fmt"
	"time"
	_ "time/tzdata" // hosts and images without a database of time zones
)

// wall is a time on a local clock, held as if the clock were that of UTC.
type wall = time.Time

// farthest is more than any time zone is from UTC.
const farthest = 48 * time.Hour

// Instant returns the first instant at which the clock of a time zone reads this time or a later
// one. Only date and clock of the given time count.
func Instant(local time.Time, zone *time.Location) time.Time {
	year, month, day := local.Date()
	hour, minute, second := local.Clock()
	read := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	for at := read.Add(-farthest).In(zone); ; {
		_, offset := at.Zone()
		start, end := at.ZoneBounds() // the clock only advances between them
		reads := read.Add(-time.Duration(offset) * time.Second)
		switch {
		case !start.IsZero() && !reads.After(start):
			return start.UTC() // the clock has skipped it
		case end.IsZero() || reads.Before(end):
			return reads
		}
		at = end.In(zone)
	}
}

// Reading returns what the clock of a time zone reads, as if it were that of UTC.
func Reading(at time.Time, zone *time.Location) time.Time {
	_, offset := at.In(zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// LatestReading returns the latest time that the clock has read up to an instant. It is later than
// what the clock reads while an hour occurs for the second time.
func LatestReading(at time.Time, zone *time.Location) time.Time {
	latest := Reading(at, zone)
	for before := at; ; {
		start, _ := before.In(zone).ZoneBounds()
		if start.IsZero() || at.Sub(start) > farthest {
			return latest
		}
		before = start.Add(-1)
		if reading := Reading(before, zone); reading.After(latest) {
			latest = reading
		}
	}
}

// Zone returns a time zone by its name. The name Local is none: it depends on the host.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is not the name of a time zone", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("the time zone %s is unknown", name)
	}
	return zone, nil
}
