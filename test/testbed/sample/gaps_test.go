package sample

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// spanOf parses one letter per 100 ms: g for a good sample, f for a failed one, - for none. The
// span ends 50 ms after the start of the last letter.
func spanOf(letters string) Span {
	var span Span
	for i, l := range letters {
		start := time.Duration(i) * 100 * time.Millisecond
		switch l {
		case 'g':
			span.Samples = append(span.Samples, Sample{Start: start})
		case 'f':
			span.Samples = append(span.Samples, Sample{Start: start, Reason: reasonRefused})
		}
		span.To = start + 50*time.Millisecond
	}
	return span
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func TestGaps(t *testing.T) {
	tests := map[string]struct {
		span Span
		want []Gap
	}{
		"no samples":         {spanOf(""), nil},
		"all good":           {spanOf("ggggg"), nil},
		"first samples fail": {spanOf("ffg"), []Gap{{From: 0, To: ms(200)}}},
		"one sample fails":   {spanOf("gfg"), []Gap{{From: ms(100), To: ms(200)}}},
		"several fail in a row": {
			spanOf("gfffgg"),
			[]Gap{{From: ms(100), To: ms(400)}},
		},
		"every other one fails": {
			spanOf("gfgfg"),
			[]Gap{{From: ms(100), To: ms(200)}, {From: ms(300), To: ms(400)}},
		},
		"missed ticks inside a gap": {
			spanOf("gf---g"),
			[]Gap{{From: ms(100), To: ms(500)}},
		},
		"missed ticks between good ones": {spanOf("g---g"), nil},
		"open at the end": {
			spanOf("ggff"),
			[]Gap{{From: ms(200), To: ms(350), Open: true}},
		},
		"a closed gap, then one open at the end": {
			spanOf("fggf"),
			[]Gap{{From: 0, To: ms(100)}, {From: ms(300), To: ms(350), Open: true}},
		},
		"all fail": {spanOf("fff"), []Gap{{From: 0, To: ms(250), Open: true}}},
		"slow failure overlaps later good samples": {
			// The failure is known only after two good responses.
			Span{To: ms(400), Samples: []Sample{{Start: 0}, {Start: ms(200)}, {Start: ms(300)}, {Start: ms(100), Reason: reasonResponseTimeout}}},
			[]Gap{{From: ms(100), To: ms(200)}},
		},
		"slow good response after later failures": {
			Span{To: ms(400), Samples: []Sample{{Start: 0, Reason: reasonRefused}, {Start: ms(200), Reason: reasonRefused}, {Start: ms(300)}, {Start: ms(100)}}},
			[]Gap{{From: 0, To: ms(100)}, {From: ms(200), To: ms(300)}},
		},
	}
	for situation, tt := range tests {
		t.Run(situation, func(t *testing.T) {
			before := slices.Clone(tt.span.Samples)
			if got := Gaps(tt.span); !slices.Equal(got, tt.want) {
				t.Errorf("gaps are %v, want %v", got, tt.want)
			}
			// A live span is read without a copy, so it must not be reordered.
			if !slices.Equal(before, tt.span.Samples) {
				t.Error("the samples were reordered in place")
			}
		})
	}
}

func TestGapsOfRandomSpans(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range 2000 {
		span := randomSpan(random)
		if fault := faultIn(span, Gaps(span)); fault != "" {
			t.Fatalf("seed %d, span %d: %s\n%+v", seed, i, fault, span)
		}
	}
}

// randomSpan has samples with random response times and starts, which fail in runs, as during an
// outage.
func randomSpan(random *rand.Rand) Span {
	span := Span{From: time.Duration(random.IntN(1000))}
	at, down := span.From, random.IntN(2) == 0
	for range random.IntN(40) {
		at += time.Duration(1 + random.IntN(200))
		if random.IntN(4) == 0 {
			down = !down
		}
		s := Sample{Start: at}
		if down {
			s.Reason = reasonRefused
		}
		span.Samples = append(span.Samples, s)
	}
	span.To = at + time.Duration(random.IntN(200))
	random.Shuffle(len(span.Samples), func(i, j int) {
		span.Samples[i], span.Samples[j] = span.Samples[j], span.Samples[i]
	})
	return span
}

// faultIn returns what is wrong with the gaps of a span, or an empty string.
func faultIn(span Span, gaps []Gap) string {
	failed := 0
	for _, s := range span.Samples {
		if !s.Good() {
			failed++
		}
	}
	var sum, longest time.Duration
	for i, g := range gaps {
		sum += g.To - g.From
		longest = max(longest, g.To-g.From)
		if g.To < g.From {
			return fmt.Sprintf("gap %d ends before it starts", i)
		}
		if i > 0 && gaps[i-1].To >= g.From {
			return fmt.Sprintf("gap %d overlaps the previous one", i)
		}
		if g.Open && (i != len(gaps)-1 || g.To != span.To) {
			return fmt.Sprintf("gap %d is open but not at the end", i)
		}
	}
	switch {
	case sum > span.To-span.From:
		return "the sum of the gaps is longer than the span"
	case longest > sum:
		return "the longest gap is longer than their sum"
	case len(gaps) > failed:
		return "more gaps than failed samples"
	case failed > 0 && len(gaps) == 0:
		return "samples failed but there is no gap"
	case sum != failedTime(span):
		return fmt.Sprintf("the sum is %d, but samples failed for %d", sum, failedTime(span))
	}
	return ""
}

// failedTime computes the sum of the gaps differently: each failed sample counts until the next
// sample, or the end.
func failedTime(span Span) time.Duration {
	var sum time.Duration
	for _, s := range span.Samples {
		if s.Good() {
			continue
		}
		next := span.To
		for _, other := range span.Samples {
			if other.Start > s.Start && other.Start < next {
				next = other.Start
			}
		}
		sum += next - s.Start
	}
	return sum
}
