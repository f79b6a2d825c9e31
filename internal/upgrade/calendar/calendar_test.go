package calendar

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func window(zone string, open ...refitv1alpha1.Opening) *refitv1alpha1.MaintenanceWindowSpec {
	return &refitv1alpha1.MaintenanceWindowSpec{TimeZone: zone, Open: open}
}

func opens(start string, duration time.Duration, days ...refitv1alpha1.Weekday) refitv1alpha1.Opening {
	return refitv1alpha1.Opening{Days: days, Start: start, Duration: metav1.Duration{Duration: duration}}
}

func calendarOf(t *testing.T, spec *refitv1alpha1.MaintenanceWindowSpec) *Calendar {
	t.Helper()
	c, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNextOpening(t *testing.T) {
	sundays := opens("02:00", 4*time.Hour, "Sun")
	second := sundays
	second.Weeks = []int32{2, -1}
	fifth := sundays
	fifth.Weeks = []int32{5}
	nights := window("Europe/Berlin", opens("22:00", 8*time.Hour))
	blackedOut := window("Europe/Berlin", opens("22:00", 8*time.Hour))
	blackedOut.Blackouts = []refitv1alpha1.Blackout{
		{Name: "year-end", From: "2026-12-20T00:00", To: "2027-01-07T00:00"},
		{Name: "sale", From: "2026-11-27T00:00", To: "2026-11-27T01:00"},
	}
	always := window("UTC", opens("00:00", 24*time.Hour))
	for situation, tt := range map[string]struct {
		window      *refitv1alpha1.MaintenanceWindowSpec
		from        string
		open, close string // empty: never
	}{
		"a Sunday":                                     {window("Europe/Berlin", sundays), "2026-11-19T12:00:00Z", "2026-11-22T01:00:00Z", "2026-11-22T05:00:00Z"},
		"while it is open":                             {window("Europe/Berlin", sundays), "2026-11-22T04:59:59Z", "2026-11-22T01:00:00Z", "2026-11-22T05:00:00Z"},
		"at its close":                                 {window("Europe/Berlin", sundays), "2026-11-22T05:00:00Z", "2026-11-29T01:00:00Z", "2026-11-29T05:00:00Z"},
		"the second and the last Sunday":               {window("Europe/Berlin", second), "2026-11-09T00:00:00Z", "2026-11-29T01:00:00Z", "2026-11-29T05:00:00Z"},
		"a fifth Sunday":                               {window("Europe/Berlin", fifth), "2026-12-01T00:00:00Z", "2027-01-31T01:00:00Z", "2027-01-31T05:00:00Z"},
		"the start is skipped in spring":               {window("Europe/Berlin", sundays), "2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z", "2027-03-28T04:00:00Z"},
		"an hour is repeated in autumn":                {window("Europe/Berlin", sundays), "2027-10-30T12:00:00Z", "2027-10-31T00:00:00Z", "2027-10-31T05:00:00Z"},
		"it lies in the skipped hour":                  {window("Europe/Berlin", opens("02:15", 30*time.Minute, "Sun")), "2027-03-27T12:00:00Z", "2027-04-04T00:15:00Z", "2027-04-04T00:45:00Z"},
		"it lies in the repeated hour":                 {window("Europe/Berlin", opens("02:15", 30*time.Minute, "Sun")), "2027-10-30T12:00:00Z", "2027-10-31T00:15:00Z", "2027-10-31T00:45:00Z"},
		"it lies in the repeated hour, and is over":    {window("Europe/Berlin", opens("02:15", 30*time.Minute, "Sun")), "2027-10-31T00:45:00Z", "2027-11-07T01:15:00Z", "2027-11-07T01:45:00Z"},
		"over midnight":                                {nights, "2026-11-19T23:30:00Z", "2026-11-19T21:00:00Z", "2026-11-20T05:00:00Z"},
		"two openings that touch":                      {window("UTC", opens("02:00", time.Hour), opens("03:00", time.Hour)), "2026-11-19T02:30:00Z", "2026-11-19T02:00:00Z", "2026-11-19T04:00:00Z"},
		"two openings that overlap":                    {window("UTC", opens("03:00", 30*time.Minute), opens("02:00", 3*time.Hour)), "2026-11-19T03:30:00Z", "2026-11-19T02:00:00Z", "2026-11-19T05:00:00Z"},
		"a blackout cuts the end":                      {blackedOut, "2026-12-19T20:00:00Z", "2026-12-19T21:00:00Z", "2026-12-19T23:00:00Z"},
		"a blackout of weeks":                          {blackedOut, "2026-12-19T23:00:00Z", "2027-01-06T23:00:00Z", "2027-01-07T05:00:00Z"},
		"a blackout within it":                         {blackedOut, "2026-11-26T23:30:00Z", "2026-11-27T00:00:00Z", "2026-11-27T05:00:00Z"},
		"a day that Samoa skipped":                     {window("Pacific/Apia", opens("02:00", time.Hour)), "2011-12-29T23:00:00Z", "2011-12-30T12:00:00Z", "2011-12-30T13:00:00Z"},
		"always open, at most some weeks are one Span": {always, "2026-11-19T12:00:00Z", "2026-11-11T00:00:00Z", "2026-12-17T00:00:00Z"},
	} {
		t.Run(situation, func(t *testing.T) {
			got, found := calendarOf(t, tt.window).Next(at(t, tt.from))
			if want := (Span{at(t, tt.open), at(t, tt.close)}); !found || got != want {
				t.Errorf("got %s to %s, want %s to %s", got.Open.Format(time.RFC3339), got.Close.Format(time.RFC3339), tt.open, tt.close)
			}
		})
	}
}

func TestWindowThatNeverOpens(t *testing.T) {
	closed := window("UTC", opens("02:00", time.Hour))
	closed.Blackouts = []refitv1alpha1.Blackout{{Name: "forever", From: "2020-01-01T00:00", To: "2060-01-01T00:00"}}
	c := calendarOf(t, closed)
	if s, found := c.Next(at(t, "2026-11-19T12:00:00Z")); found {
		t.Errorf("it opens at %s", s.Open)
	}
	if s, found := c.Last(at(t, "2026-11-19T12:00:00Z")); found {
		t.Errorf("it closed at %s", s.Close)
	}
	if name := c.Blackout(at(t, "2026-11-19T12:00:00Z")); name != "forever" {
		t.Errorf("the blackout is %q", name)
	}
}

func TestLastClose(t *testing.T) {
	for situation, tt := range map[string]struct {
		opening      refitv1alpha1.Opening
		from, closed string
	}{
		"days ago":              {opens("02:00", 4*time.Hour, "Sun"), "2026-11-19T12:00:00Z", "2026-11-15T06:00:00Z"},
		"at the close":          {opens("02:00", 4*time.Hour, "Sun"), "2026-11-15T06:00:00Z", "2026-11-15T06:00:00Z"},
		"while it is open":      {opens("02:00", 4*time.Hour, "Sun"), "2026-11-15T05:00:00Z", "2026-11-08T06:00:00Z"},
		"minutes ago":           {opens("11:30", time.Minute), "2026-11-19T12:00:00Z", "2026-11-19T11:31:00Z"},
		"the last fifth Sunday": {refitv1alpha1.Opening{Days: []refitv1alpha1.Weekday{"Sun"}, Weeks: []int32{5}, Start: "02:00", Duration: metav1.Duration{Duration: time.Hour}}, "2026-11-19T12:00:00Z", "2026-08-30T03:00:00Z"},
	} {
		t.Run(situation, func(t *testing.T) {
			got, found := calendarOf(t, window("UTC", tt.opening)).Last(at(t, tt.from))
			if !found || !got.Close.Equal(at(t, tt.closed)) {
				t.Errorf("got %s, %t, want %s", got.Close, found, tt.closed)
			}
		})
	}
}

func TestWindowsThatAreInvalid(t *testing.T) {
	for situation, spec := range map[string]*refitv1alpha1.MaintenanceWindowSpec{
		"no time zone":             window("", opens("02:00", time.Hour)),
		"the time zone of a host":  window("Local", opens("02:00", time.Hour)),
		"an unknown time zone":     window("Europe/Atlantis", opens("02:00", time.Hour)),
		"a path":                   window("../../etc/passwd", opens("02:00", time.Hour)),
		"a start that is no time":  window("UTC", opens("25:00", time.Hour)),
		"a duration of nothing":    window("UTC", opens("02:00", 0)),
		"a duration of two weeks":  window("UTC", opens("02:00", 14*24*time.Hour)),
		"a blackout without times": {TimeZone: "UTC", Blackouts: []refitv1alpha1.Blackout{{Name: "b"}}},
		"the 30th of February":     {TimeZone: "UTC", Blackouts: []refitv1alpha1.Blackout{{Name: "b", From: "2027-02-30T00:00", To: "2027-03-01T00:00"}}},
	} {
		if _, err := New(spec); err == nil {
			t.Errorf("%s: no error", situation)
		}
	}
}
