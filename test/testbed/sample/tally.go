package sample

import (
	"maps"
	"time"
)

// tally counts in durations; sums are rounded once, at the end.
type tally struct {
	watched time.Duration
	samples int
	failed  int
	missed  int
	gaps    []Gap
	reasons map[string]int
}

func tallyOf(o observation) tally {
	t := tally{missed: o.missed, reasons: map[string]int{}}
	for _, span := range o.spans {
		t.watched += span.To - span.From
		t.samples += len(span.Samples)
		for _, s := range span.Samples {
			if !s.Good() {
				t.failed++
				t.reasons[s.Reason]++
			}
		}
		t.gaps = append(t.gaps, Gaps(span)...)
	}
	return t
}

func (t tally) plus(u tally) tally {
	sum := tally{
		watched: t.watched + u.watched,
		samples: t.samples + u.samples,
		failed:  t.failed + u.failed,
		missed:  t.missed + u.missed,
		reasons: map[string]int{},
	}
	sum.gaps = append(append(sum.gaps, t.gaps...), u.gaps...)
	maps.Copy(sum.reasons, t.reasons)
	for reason, n := range u.reasons {
		sum.reasons[reason] += n
	}
	return sum
}

func (t tally) totals() Totals {
	totals := Totals{
		WatchedSeconds: seconds(t.watched),
		Samples:        t.samples,
		Failed:         t.failed,
		MissedTicks:    t.missed,
		GapCount:       len(t.gaps),
		Reasons:        t.reasons,
	}
	var sum, longest time.Duration
	for _, g := range t.gaps {
		sum += g.To - g.From
		longest = max(longest, g.To-g.From)
		if g.Open {
			totals.GapsOpen++
		}
	}
	totals.GapSeconds, totals.LongestGapSeconds = seconds(sum), seconds(longest)
	return totals
}

func (t tally) gapReports() []GapReport {
	var reports []GapReport
	for _, g := range t.gaps {
		reports = append(reports, GapReport{FromSeconds: seconds(g.From), ToSeconds: seconds(g.To), Open: g.Open})
	}
	return reports
}
