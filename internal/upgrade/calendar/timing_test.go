package calendar

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func timingOf(t *testing.T, expression string, zone *time.Location) Timing {
	t.Helper()
	timing, err := ParseTiming(&refitv1alpha1.UpgradeScheduleSpec{Cron: expression}, zone)
	if err != nil {
		t.Fatal(err)
	}
	return timing
}

func TestStartsAtChangesOfTheOffset(t *testing.T) {
	for situation, test := range map[string]struct{ zone, cron, after, want string }{
		"an ordinary Sunday":                    {"Europe/Berlin", "0 2 * * 0", "2027-03-20T00:00:00Z", "2027-03-21T01:00:00Z"},
		"the hour is skipped: its end":          {"Europe/Berlin", "0 2 * * 0", "2027-03-22T00:00:00Z", "2027-03-28T01:00:00Z"},
		"half past the skipped hour: its end":   {"Europe/Berlin", "30 2 * * 0", "2027-03-22T00:00:00Z", "2027-03-28T01:00:00Z"},
		"after the skipped hour: a week later":  {"Europe/Berlin", "0 2 * * 0", "2027-03-28T01:00:00Z", "2027-04-04T00:00:00Z"},
		"the hour occurs twice: the first":      {"Europe/Berlin", "0 2 * * 0", "2027-10-30T00:00:00Z", "2027-10-31T00:00:00Z"},
		"between both: a week later":            {"Europe/Berlin", "0 2 * * 0", "2027-10-31T00:30:00Z", "2027-11-07T01:00:00Z"},
		"in the second hour: a week later":      {"Europe/Berlin", "30 2 * * 0", "2027-10-31T01:15:00Z", "2027-11-07T01:30:00Z"},
		"every ten minutes, in the second hour": {"Europe/Berlin", "*/10 * * * *", "2027-10-31T01:15:00Z", "2027-10-31T02:00:00Z"},
		"half an hour is skipped":               {"Australia/Lord_Howe", "15 2 * * *", "2026-10-03T10:00:00Z", "2026-10-03T15:30:00Z"},
		"a day is skipped":                      {"Pacific/Apia", "0 12 30 12 *", "2011-12-01T00:00:00Z", "2011-12-30T10:00:00Z"},
	} {
		t.Run(situation, func(t *testing.T) {
			got, ok := timingOf(t, test.cron, zoneOf(t, test.zone)).Next(at(t, test.after))
			if !ok || got.Format(time.RFC3339) != test.want {
				t.Errorf("the next start is %s (%v), want %s", got.Format(time.RFC3339), ok, test.want)
			}
		})
	}
}

// walk returns the starts of each expression in a period: it walks through its minutes and keeps
// the latest time that the clock has read. A minute is a start if the clock advances past a
// matching time.
func walk(from, to time.Time, zone *time.Location, expressions map[string]func(wall time.Time) bool) map[string][]time.Time {
	out := map[string][]time.Time{}
	read := func(t time.Time) time.Time {
		local := t.In(zone)
		return time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
	}
	begin := from.Add(-3 * 24 * time.Hour)
	latest := read(begin)
	for t := begin; !t.After(to); t = t.Add(time.Minute) {
		due := map[string]bool{}
		for wall := read(t); latest.Before(wall); {
			latest = latest.Add(time.Minute)
			for expression, matches := range expressions {
				if t.After(from) && !due[expression] && matches(latest) {
					due[expression] = true
					out[expression] = append(out[expression], t)
				}
			}
		}
	}
	return out
}

func TestNextIsThatOfAWalkThroughEachMinute(t *testing.T) {
	expressions := map[string]func(time.Time) bool{
		"0 2 * * 0":      func(w time.Time) bool { return w.Minute() == 0 && w.Hour() == 2 && w.Weekday() == time.Sunday },
		"30 1 * * *":     func(w time.Time) bool { return w.Minute() == 30 && w.Hour() == 1 },
		"*/20 0-3 * * *": func(w time.Time) bool { return w.Minute()%20 == 0 && w.Hour() <= 3 },
		"15 2 1-7 3,10,11 *": func(w time.Time) bool {
			return w.Minute() == 15 && w.Hour() == 2 && w.Day() <= 7 && (w.Month() == 3 || w.Month() == 10 || w.Month() == 11)
		},
	}
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Chatham", "Antarctica/Troll"}
	from, to := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range zones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := zoneOf(t, name)
			for expression, starts := range walk(from, to, zone, expressions) {
				timing := timingOf(t, expression, zone)
				previous := from
				for _, want := range starts {
					got, ok := timing.Next(previous)
					if !ok || !got.Equal(want) {
						t.Fatalf("%s after %s: got %s, want %s", expression, previous.In(zone), got.In(zone), want.In(zone))
					}
					if got, ok = timing.Next(want.Add(-time.Second)); !ok || !got.Equal(want) {
						t.Fatalf("%s, a second before: got %s, want %s", expression, got.In(zone), want.In(zone))
					}
					if latest, ok := timing.Latest(previous, want.Add(time.Minute-1)); !ok || !latest.Equal(want) {
						t.Fatalf("%s: the latest start up to %s is %s, want it", expression, want.In(zone), latest.In(zone))
					}
					previous = want
				}
			}
		})
	}
}

func TestALongSpanHasItsLatestStart(t *testing.T) {
	timing := timingOf(t, "* * * 1 *", time.UTC)
	from := time.Date(2020, 6, 1, 0, 0, 0, 0, time.UTC)
	got, ok := timing.Latest(from, time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC))
	if want := time.Date(2026, 1, 31, 23, 59, 0, 0, time.UTC); !ok || !got.Equal(want) {
		t.Errorf("got %s (%v), want %s", got, ok, want)
	}
	if got, ok := timing.Latest(from, from.Add(time.Hour)); ok {
		t.Errorf("got %s in a span without a start", got)
	}
}

func TestInvalidTiming(t *testing.T) {
	for expression, want := range map[string]string{
		"@every 1h":                       "macros and time zones are not supported",
		"@daily":                          "macros and time zones are not supported",
		"TZ=Europe/Berlin 0 2 * * *":      "macros and time zones are not supported",
		"CRON_TZ=Europe/Berlin 0 2 * * 0": "macros and time zones are not supported",
		"0 2 * *":                         "expected exactly 5 fields",
		"0 0 2 * * 0":                     "expected exactly 5 fields",
		"0 25 * * *":                      "above maximum",
		"":                                "neither cron nor at",
	} {
		_, err := ParseTiming(&refitv1alpha1.UpgradeScheduleSpec{Cron: expression}, time.UTC)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", expression, err, want)
		}
	}
	if next, ok := timingOf(t, "0 0 30 2 *", time.UTC).Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); ok {
		t.Errorf("30 February is %s", next)
	}
}

func TestASingleStart(t *testing.T) {
	when := metav1.NewTime(time.Date(2026, 12, 6, 1, 0, 0, 0, time.UTC))
	timing, err := ParseTiming(&refitv1alpha1.UpgradeScheduleSpec{At: &when}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := timing.Next(when.Add(-time.Hour)); !ok || !got.Equal(when.Time) {
		t.Errorf("got %s (%v)", got, ok)
	}
	if got, ok := timing.Next(when.Time); ok {
		t.Errorf("after it: %s", got)
	}
	if got, ok := timing.Latest(when.Add(-time.Hour), when.Time); !ok || !got.Equal(when.Time) {
		t.Errorf("the latest is %s (%v)", got, ok)
	}
}
