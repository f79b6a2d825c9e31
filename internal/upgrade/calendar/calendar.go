package calendar

import (
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Span is a period in which a window is open. It is closed at Close.
type Span struct{ Open, Close time.Time }

// Length is how long the window is open.
func (s Span) Length() time.Duration { return s.Close.Sub(s.Open) }

// has reports whether an instant is in the span.
func (s Span) has(at time.Time) bool { return !at.Before(s.Open) && at.Before(s.Close) }

// Calendar has the openings of a window.
type Calendar struct {
	zone      *time.Location
	openings  []opening
	blackouts []blackout
}

type opening struct {
	days     [7]bool // by time.Weekday
	weeks    []int32
	start    time.Duration // since midnight, on the clock
	duration time.Duration
}

type blackout struct {
	Span

	name string
}

// The farthest that a calendar looks.
const (
	// horizon is how far ahead an opening is found: a fifth Sunday, or the end of a long blackout.
	horizon = 2 * 366 * day
	// longest bounds what is one Span. A window that is always open has Spans that overlap.
	longest = 35 * day
	day     = 24 * time.Hour
)

const blackoutTime = "2006-01-02T15:04"

var weekdays = []refitv1alpha1.Weekday{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// New returns the calendar of a window, or why it has none.
func New(spec *refitv1alpha1.MaintenanceWindowSpec) (*Calendar, error) {
	zone, err := Zone(spec.TimeZone)
	if err != nil {
		return nil, err
	}
	c := &Calendar{zone: zone}
	for i := range spec.Open {
		o, err := parseOpening(&spec.Open[i])
		if err != nil {
			return nil, err
		}
		c.openings = append(c.openings, o)
	}
	for _, b := range spec.Blackouts {
		from, err := time.Parse(blackoutTime, b.From)
		if err != nil {
			return nil, fmt.Errorf("the blackout %s starts at %q, which is not a time", b.Name, b.From)
		}
		to, err := time.Parse(blackoutTime, b.To)
		if err != nil {
			return nil, fmt.Errorf("the blackout %s ends at %q, which is not a time", b.Name, b.To)
		}
		c.blackouts = append(c.blackouts, blackout{Span{Instant(from, zone), Instant(to, zone)}, b.Name})
	}
	slices.SortFunc(c.blackouts, func(a, b blackout) int { return a.Open.Compare(b.Open) })
	return c, nil
}

func parseOpening(spec *refitv1alpha1.Opening) (opening, error) {
	start, err := time.Parse("15:04", spec.Start)
	if err != nil {
		return opening{}, fmt.Errorf("an opening starts at %q, which is not a time", spec.Start)
	}
	if spec.Duration.Duration <= 0 || spec.Duration.Duration > 7*day {
		return opening{}, fmt.Errorf("an opening lasts %s, and not up to 168h", spec.Duration.Duration)
	}
	o := opening{weeks: spec.Weeks, start: time.Duration(start.Hour())*time.Hour + time.Duration(start.Minute())*time.Minute, duration: spec.Duration.Duration}
	for i, name := range weekdays {
		o.days[i] = len(spec.Days) == 0 || slices.Contains(spec.Days, name)
	}
	return o, nil
}

// on reports whether the opening starts on a day.
func (o *opening) on(date wall) bool {
	if !o.days[date.Weekday()] {
		return false
	}
	if len(o.weeks) == 0 {
		return true
	}
	last := date.AddDate(0, 1, -date.Day()).Day() // the last day of the month
	first, fromEnd := int32((date.Day()-1)/7+1), -int32((last-date.Day())/7+1)
	return slices.Contains(o.weeks, first) || slices.Contains(o.weeks, fromEnd)
}

// At returns the Span that an instant is in, and whether there is one.
func (c *Calendar) At(at time.Time) (Span, bool) {
	s, ok := c.Next(at)
	return s, ok && s.has(at)
}

// Next returns the Span that an instant is in, or else the next one. There is none if the window
// does not open within two years. The Span of a window that is open for weeks may begin later and
// end earlier than the window does.
func (c *Calendar) Next(at time.Time) (Span, bool) {
	for from := at; ; {
		s, ok := c.opens(from)
		if !ok || s.Open.Sub(at) > horizon {
			return Span{}, false
		}
		for _, piece := range c.cut(s) {
			if piece.Close.After(at) {
				return piece, true
			}
		}
		from = s.Close
	}
}

// Last returns the last Span that ended before an instant or at it, within a year.
func (c *Calendar) Last(at time.Time) (last Span, found bool) {
	for _, back := range []time.Duration{2 * day, 9 * day, longest, 366 * day} {
		for from := at.Add(-back); ; from = last.Close {
			s, ok := c.Next(from)
			if !ok || s.Close.After(at) {
				break
			}
			last, found = s, true
		}
		if found {
			return last, true
		}
	}
	return Span{}, false
}

// Local returns an instant in the window's time zone.
func (c *Calendar) Local(at time.Time) time.Time { return at.In(c.zone) }

// Blackout returns the name of the blackout that an instant is in, empty if there is none.
func (c *Calendar) Blackout(at time.Time) string {
	for i := range c.blackouts {
		if c.blackouts[i].has(at) {
			return c.blackouts[i].name
		}
	}
	return ""
}

// opens is Next without blackouts.
func (c *Calendar) opens(at time.Time) (Span, bool) {
	var found Span
	read := Reading(at, c.zone)
	for date := read.Truncate(day).Add(-8 * day); date.Sub(read) <= horizon; date = date.Add(day) {
		for _, s := range c.on(date) { // those of the next day open later
			open := found.Close.After(at)
			switch {
			case open && (s.Open.After(found.Close) || found.Length() > longest):
				return found, true
			case s.Open.After(found.Close):
				found = s
			case s.Close.After(found.Close):
				found.Close = s.Close
			}
		}
	}
	return found, found.Close.After(at)
}

// on returns the Spans of the openings that start on a day, in order.
func (c *Calendar) on(date wall) (out []Span) {
	for i := range c.openings {
		o := &c.openings[i]
		if !o.on(date) {
			continue
		}
		start := date.Add(o.start)
		if s := (Span{Instant(start, c.zone), Instant(start.Add(o.duration), c.zone)}); s.Length() > 0 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Span) int { return a.Open.Compare(b.Open) })
	return out
}

// cut returns a Span without blackouts, in pieces.
func (c *Calendar) cut(s Span) (out []Span) {
	for i := range c.blackouts {
		b := &c.blackouts[i]
		if !b.Open.Before(s.Close) || !b.Close.After(s.Open) {
			continue
		}
		if piece := (Span{s.Open, b.Open}); piece.Length() > 0 {
			out = append(out, piece)
		}
		s.Open = b.Close
	}
	if s.Length() > 0 {
		out = append(out, s)
	}
	return out
}
