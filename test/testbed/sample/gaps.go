package sample

import (
	"cmp"
	"slices"
	"time"
)

// Sample is one request and its result. Times in this package are offsets from the start of the
// Sampler, on the monotonic clock.
type Sample struct {
	Start  time.Duration
	Reason string // why it failed; empty if it succeeded
}

// Good reports whether the response was HTTP 200 and complete in time.
func (s Sample) Good() bool { return s.Reason == "" }

// Span is a time during which a stream was watched without interruption. Its samples are in the
// order of their responses, and start inside the span.
type Span struct {
	From, To time.Duration
	Samples  []Sample
}

// Gap is a time without good samples.
type Gap struct {
	From, To time.Duration
	Open     bool // no good sample followed: To is the end of the span
}

// Gaps returns the gaps of a span: each lasts from the start of the first failed sample to the
// start of the next good one, ordered by start. The time of a response does not matter, so a
// failure after the whole timeout counts like an immediate one.
func Gaps(span Span) []Gap {
	ordered := slices.Clone(span.Samples)
	slices.SortStableFunc(ordered, func(a, b Sample) int { return cmp.Compare(a.Start, b.Start) })

	var gaps []Gap
	failing := false
	for _, s := range ordered {
		switch {
		case !s.Good() && !failing:
			gaps = append(gaps, Gap{From: s.Start, To: span.To, Open: true})
			failing = true
		case s.Good() && failing:
			last := &gaps[len(gaps)-1]
			last.To, last.Open = s.Start, false
			failing = false
		}
	}
	return gaps
}
