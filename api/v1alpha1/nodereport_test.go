package v1alpha1

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTimeOfAReportFromAHostWhoseClockIsWrong(t *testing.T) {
	noon := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	ahead := int64(10 * time.Minute / time.Millisecond)
	for situation, c := range map[string]struct {
		report NodeReportStatus
		want   time.Time
	}{
		"no report yet":                {},
		"the offset is not known":      {NodeReportStatus{ObservedTime: &metav1.Time{Time: noon}}, noon},
		"the clock is 10 minutes fast": {NodeReportStatus{ObservedTime: &metav1.Time{Time: noon}, ClockOffsetMilliseconds: &ahead}, noon.Add(-10 * time.Minute)},
	} {
		if got := c.report.Observed(); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", situation, got, c.want)
		}
	}
}
