package sample

import (
	"cmp"
	"slices"
	"time"
)

// Sample is one question and whether it was answered in time. Times in this
// package are offsets from the start of the Sampler, of the monotonic clock.
type Sample struct {
	Start  time.Duration
	Reason string // why it failed; empty for a good sample
}

// Good says whether the answer was HTTP 200 and read in time.
func (s Sample) Good() bool { return s.Reason == "" }

// Span is a time during which a stream was watched without a break. Its samples
// lie in the order in which they were answered, and start inside the span.
type Span struct {
	From, To time.Duration
	Samples  []Sample
}

// Gap is a time without good answers.
type Gap struct {
	From, To time.Duration
	Open     bool // no good sample followed: To is where watching ended
}

// Gaps finds the gaps of a span: each runs from the start of the first failed
// sample to the start of the next good one, with samples ordered by their start.
// When a sample was answered does not matter, so a failure that took its whole
// timeout is as long a gap as one that was refused at once.
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
