package schedule

import "time"

// search is more than the largest difference between the clocks of two time zones, or between the
// clocks before and after a change of the offset.
const search = 48 * time.Hour

// wallOf returns what the local clock reads at an instant, as a time in UTC.
func wallOf(t time.Time, zone *time.Location) time.Time {
	local := t.In(zone)
	_, offset := local.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instantOf returns the first instant at which the local clock reads this time or later. A time
// that the clock skips is at the end of the gap, and a time that occurs twice is its first
// occurrence.
func instantOf(wall time.Time, zone *time.Location) time.Time {
	for at := wall.Add(-search); ; {
		_, offset := at.In(zone).Zone()
		if reached := wall.Add(-time.Duration(offset) * time.Second); reached.After(at) {
			_, end := at.In(zone).ZoneBounds()
			if end.IsZero() || reached.Before(end) {
				return reached.UTC()
			}
			at = end
			continue
		}
		return at.UTC() // the clock skipped it
	}
}

// latestOf returns the latest time that the local clock has read up to an instant. It is later than
// what the clock reads while an hour occurs for the second time.
func latestOf(t time.Time, zone *time.Location) time.Time {
	latest := wallOf(t, zone)
	for at := t; ; {
		start, _ := at.In(zone).ZoneBounds()
		if start.IsZero() || t.Sub(start) > search {
			return latest
		}
		at = start.Add(-1)
		if wall := wallOf(at, zone); wall.After(latest) {
			latest = wall
		}
	}
}
