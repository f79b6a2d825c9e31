package calendar

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var (
	zones = flag.Int("zones", 12, "test this many time zones, 0 for all")
	years = flag.Int("years", 2, "walk this many years in each time zone")
)

// walker finds openings with a walk from minute to minute. It shares nothing with Calendar: it
// looks at what the clock reads, and at nothing else.
type walker struct {
	zone   *time.Location
	spec   *refitv1alpha1.MaintenanceWindowSpec
	start  []int       // in minutes after midnight, by opening
	open   []bool      // by opening
	ends   []time.Time // what the clock has to read for it to close, by opening
	last   time.Time   // what the clock has read at most so far
	closed time.Time   // since when the window is closed
}

// reads returns what the clock reads, as if it were that of UTC.
func (w *walker) reads(at time.Time) time.Time {
	_, offset := at.In(w.zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second).Truncate(time.Minute)
}

// step reports whether the window is open in this minute.
func (w *walker) step(at time.Time) (open bool) {
	read := w.reads(at)
	// Every minute that the clock has reached for the first time, also those that it skipped.
	for minute := w.last.Add(time.Minute); !minute.After(read); minute = minute.Add(time.Minute) {
		of := minute.Hour()*60 + minute.Minute()
		for i := range w.spec.Open {
			if of != w.start[i] || !w.starts(&w.spec.Open[i], minute) {
				continue
			}
			if end := minute.Add(w.spec.Open[i].Duration.Duration); !w.open[i] || end.After(w.ends[i]) {
				w.open[i], w.ends[i] = true, end
			}
		}
	}
	w.last = maximum(w.last, read)
	for i := range w.open {
		w.open[i] = w.open[i] && w.last.Before(w.ends[i])
		open = open || w.open[i]
	}
	if len(w.spec.Blackouts) == 0 || !open {
		return open
	}
	most := w.last.Format(blackoutTime)
	for _, b := range w.spec.Blackouts {
		open = open && (most < b.From || most >= b.To)
	}
	return open
}

func maximum(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *walker) starts(o *refitv1alpha1.Opening, minute time.Time) bool {
	if len(o.Days) > 0 && !slices.Contains(o.Days, refitv1alpha1.Weekday(minute.Format("Mon"))) {
		return false
	}
	if len(o.Weeks) == 0 {
		return true
	}
	before, after := int32(1), int32(-1) // of the same weekday in its month
	for d := minute.AddDate(0, 0, -7); d.Month() == minute.Month(); d = d.AddDate(0, 0, -7) {
		before++
	}
	for d := minute.AddDate(0, 0, 7); d.Month() == minute.Month(); d = d.AddDate(0, 0, 7) {
		after--
	}
	return slices.Contains(o.Weeks, before) || slices.Contains(o.Weeks, after)
}

// TestCalendarAgreesWithAWalkFromMinuteToMinute compares random windows in time zones with what a
// clock shows. -zones=0 -years=10 is the long run.
func TestCalendarAgreesWithAWalkFromMinuteToMinute(t *testing.T) {
	names := zoneNames(t)
	if *zones > 0 {
		// Clock changes of 30 minutes, at midnight, on a Friday, around a day that was left out.
		chosen := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Gaza", "Africa/Casablanca", "America/Nuuk", "UTC"}
		for len(chosen) < *zones {
			chosen = append(chosen, names[rand.IntN(len(names))])
		}
		names = chosen
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := Zone(name)
			if err != nil {
				t.Skip(err) // the database has names for leap seconds and the like
			}
			seed := rand.Uint64()
			compare(t, zone, randomWindow(rand.New(rand.NewPCG(seed, 1)), name), seed)
		})
	}
}

func compare(t *testing.T, zone *time.Location, spec *refitv1alpha1.MaintenanceWindowSpec, seed uint64) {
	t.Helper()
	c := calendarOf(t, spec)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &walker{zone: zone, spec: spec, open: make([]bool, len(spec.Open)), ends: make([]time.Time, len(spec.Open))}
	for i := range spec.Open {
		of, err := time.Parse("15:04", spec.Open[i].Start)
		if err != nil {
			t.Fatal(err)
		}
		w.start = append(w.start, of.Hour()*60+of.Minute())
	}
	w.last = w.reads(start.Add(-8 * 24 * time.Hour)).Add(-time.Minute)
	var span Span
	var inSpan bool
	for now := start.Add(-8 * 24 * time.Hour); now.Before(start.AddDate(*years, 0, 0)); now = now.Add(time.Minute) {
		want := w.step(now)
		if now.Before(start) {
			continue // what opened before is known after a week
		}
		if span.Close.IsZero() || !now.Before(span.Close) {
			next, found := c.Next(now)
			if !found {
				next = Span{now.AddDate(1, 0, 0), now.AddDate(1, 0, 0)}
			}
			span = next
		}
		if inSpan = span.has(now); inSpan != want {
			t.Fatalf("at %s (%s) the window is open: %t, want %t; the calendar has %s to %s\nseed %d, %+v",
				now.Format(time.RFC3339), w.reads(now).Format("Mon 2006-01-02T15:04"), inSpan, want,
				span.Open.Format(time.RFC3339), span.Close.Format(time.RFC3339), seed, spec)
		}
		if closed := !want && w.closed.IsZero(); closed || want {
			w.closed = time.Time{}
			if closed {
				w.closed = now
			}
			continue
		}
		if now.Sub(w.closed) != 24*time.Hour || w.closed.Equal(start) {
			continue
		}
		if last, found := c.Last(now); !found || !last.Close.Equal(w.closed) {
			t.Fatalf("at %s the last span ends at %s, want %s; seed %d, %+v", now, last.Close, w.closed, seed, spec)
		}
	}
}

func randomWindow(r *rand.Rand, zone string) *refitv1alpha1.MaintenanceWindowSpec {
	spec := &refitv1alpha1.MaintenanceWindowSpec{TimeZone: zone}
	for range 1 + r.IntN(4) {
		o := refitv1alpha1.Opening{
			Start:    time.Date(2026, 1, 1, r.IntN(24), []int{0, 15, 30, 59, r.IntN(60)}[r.IntN(5)], 0, 0, time.UTC).Format("15:04"),
			Duration: metav1.Duration{Duration: time.Duration(1+r.IntN([]int{60, 600, 3000}[r.IntN(3)])) * time.Minute},
		}
		if r.IntN(3) > 0 { // clocks often change around these hours
			o.Start = "0" + strconv.Itoa(r.IntN(4)) + []string{":00", ":30", ":15"}[r.IntN(3)]
		}
		for _, d := range weekdays {
			if r.IntN(3) == 0 {
				o.Days = append(o.Days, d)
			}
		}
		if r.IntN(2) == 0 {
			o.Weeks = []int32{[]int32{1, 2, 3, 4, 5, -1, -2, -3, -4, -5}[r.IntN(10)]}
		}
		spec.Open = append(spec.Open, o)
	}
	for range r.IntN(3) {
		from := time.Date(2026, 1, r.IntN(1000), r.IntN(24), r.IntN(60), 0, 0, time.UTC)
		spec.Blackouts = append(spec.Blackouts, refitv1alpha1.Blackout{
			Name: "b", From: from.Format(blackoutTime), To: from.Add(time.Duration(1+r.IntN(20_000)) * time.Minute).Format(blackoutTime),
		})
	}
	return spec
}

// zoneNames returns the names in testdata/zones.txt: those of the database that Go ships.
func zoneNames(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(content))
}
