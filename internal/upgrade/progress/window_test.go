package progress

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestWindowOverAChangeOfTheClock(t *testing.T) {
	w := &refitv1alpha1.MaintenanceWindow{ObjectMeta: metav1.ObjectMeta{Name: "weekend"}, Spec: refitv1alpha1.MaintenanceWindowSpec{
		TimeZone: "Europe/Berlin",
		Open:     []refitv1alpha1.Opening{{Days: []refitv1alpha1.Weekday{"Sun"}, Start: "02:00", Duration: metav1.Duration{Duration: 4 * time.Hour}}},
	}}
	got := NewWindow("prod", w, 3, time.Date(2027, 10, 24, 1, 0, 0, 0, time.UTC))
	want := []string{"2027-10-24T02:00:00+02:00 14400", "2027-10-31T02:00:00+02:00 18000", "2027-11-07T02:00:00+01:00 14400"}
	if !got.Open || len(got.Openings) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, o := range got.Openings {
		if text := o.Open.Format(time.RFC3339) + " " + time.Duration(o.Seconds).String()[:5]; text[:25] != want[i][:25] || o.Seconds != []int64{14400, 18000, 14400}[i] {
			t.Errorf("got %s, want %s", text, want[i])
		}
	}
}

func TestWindowOfAnUnknownTimeZone(t *testing.T) {
	w := &refitv1alpha1.MaintenanceWindow{Spec: refitv1alpha1.MaintenanceWindowSpec{TimeZone: "Europe/Atlantis"}}
	if got := NewWindow("prod", w, 3, time.Date(2027, 10, 24, 1, 0, 0, 0, time.UTC)); got.Problem != "the time zone Europe/Atlantis is unknown" {
		t.Errorf("got %+v", got)
	}
}
