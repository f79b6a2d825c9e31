package bed

import (
	"testing"

	"github.com/refit-dev/refit/test/testbed/sample"
)

// ShowGaps prints the gaps of an availability report, and fails the test if nothing was sampled.
func ShowGaps(t *testing.T, name, suffix string, report sample.Report) {
	t.Helper()
	for kind, part := range map[sample.Kind]string{sample.KindAPINew: "api", sample.KindAPIReused: "api_reused", sample.KindService: "service"} {
		totals, ok := report.Kind(kind)
		if !ok || totals.Samples == 0 {
			t.Fatalf("there are no samples of kind %s", kind)
		}
		Show(t, name+"_"+part+"_gap_"+suffix, totals.GapSeconds, "s")
		Show(t, name+"_"+part+"_longest_gap_"+suffix, totals.LongestGapSeconds, "s")
		Show(t, name+"_"+part+"_gaps_"+suffix, float64(totals.GapCount), "gaps")
		Show(t, name+"_"+part+"_missed_"+suffix, float64(totals.MissedTicks), "ticks")
	}
}
