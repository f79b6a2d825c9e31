package sample

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// watched runs a stream with default times in a bubble whose clock moves only when all goroutines
// wait; stop ends it and waits for samples in flight.
func watched(t *testing.T, ask probe) (s *stream, stop func()) {
	t.Helper()
	return watchedOn(t, ask, new(atomic.Int64))
}

// watchedOn is watched on a machine that was suspended for some time.
func watchedOn(t *testing.T, ask probe, stoodStill *atomic.Int64) (s *stream, stop func()) {
	t.Helper()
	started := time.Now()
	s = &stream{
		kind: KindService, node: "w1", ask: ask,
		interval: defaultInterval, timeout: defaultTimeout,
		now: func() time.Duration { return time.Since(started) + time.Duration(stoodStill.Load()) },
	}
	s.include()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(ctx)
	}()
	return s, func() {
		cancel()
		<-done
		s.inFlight.Wait()
	}
}

// answers is a probe that takes a while, and fails while failing is set.
type answers struct {
	after   time.Duration
	failing bool
}

func (a *answers) ask(ctx context.Context) string {
	reason := ""
	if a.failing {
		reason = reasonRefused
	}
	select {
	case <-ctx.Done():
		return reasonResponseTimeout
	case <-time.After(a.after):
		return reason
	}
}

func starts(spans []Span) []time.Duration {
	var all []time.Duration
	for _, span := range spans {
		for _, s := range span.Samples {
			all = append(all, s.Start)
		}
	}
	slices.Sort(all)
	return all
}

func TestStreamStartsOnItsTicksRegardlessOfResponses(t *testing.T) {
	tests := map[string]*answers{
		"answered at once":           {},
		"answered slower than ticks": {after: 1500 * time.Millisecond},
		"never answered":             {after: time.Hour},
	}
	for situation, a := range tests {
		t.Run(situation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := watched(t, a.ask)
				time.Sleep(10*time.Second - 50*time.Millisecond)
				stop()
				var want []time.Duration
				for i := range 100 {
					want = append(want, time.Duration(i)*defaultInterval)
				}
				if got := starts(s.observe().spans); !slices.Equal(got, want) {
					t.Errorf("samples started at %v, want each 100ms", got)
				}
			})
		})
	}
}

func TestStreamBoundsTheSamplesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		inFlight, most := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			inFlight += n
			most = max(most, inFlight)
		}
		_, stop := watched(t, func(ctx context.Context) string {
			count(1)
			defer count(-1)
			<-ctx.Done()
			return reasonResponseTimeout
		})
		time.Sleep(time.Minute)
		stop()
		if limit := int(defaultTimeout/defaultInterval) + 1; most > limit {
			t.Errorf("%d samples were in flight, want at most %d", most, limit)
		}
	})
}

func TestStreamFailsLateResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := watched(t, func(context.Context) string {
			time.Sleep(defaultTimeout + time.Millisecond) // as if the machine was suspended
			return ""
		})
		time.Sleep(time.Second)
		stop()
		got := tallyOf(s.observe())
		if got.failed != got.samples || got.reasons[reasonResponseTimeout] != got.failed {
			t.Errorf("%d of %d samples failed: %v", got.failed, got.samples, got.reasons)
		}
	})
}

func TestStreamStoppedWhileFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{after: time.Hour}
		s, stop := watched(t, a.ask)
		time.Sleep(550 * time.Millisecond)
		stop()
		// All samples in flight at the end count, but their gap lasts no longer than the span.
		got := tallyOf(s.observe())
		want := []Gap{{From: 0, To: ms(550), Open: true}}
		if got.failed != 6 || !slices.Equal(got.gaps, want) {
			t.Errorf("%d failed with gaps %v, want 6 with %v", got.failed, got.gaps, want)
		}
	})
}

func TestStreamExcluded(t *testing.T) {
	tests := map[string]struct {
		answers    answers
		wantBefore int
		wantGaps   []Gap
	}{
		"while good":               {answers{}, 10, nil},
		"while failing":            {answers{failing: true}, 10, []Gap{{From: 0, To: ms(950), Open: true}}},
		"while failing slowly":     {answers{failing: true, after: ms(500)}, 5, []Gap{{From: 0, To: ms(950), Open: true}}},
		"with all still in flight": {answers{after: time.Hour}, 0, nil},
	}
	for situation, tt := range tests {
		t.Run(situation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := tt.answers
				s, stop := watched(t, a.ask)
				time.Sleep(950 * time.Millisecond)
				s.exclude()
				time.Sleep(10 * time.Second)
				if got := tallyOf(s.observe()); got.samples != tt.wantBefore || !slices.Equal(got.gaps, tt.wantGaps) {
					t.Errorf("%d samples and gaps %v before the exclusion, want %d and %v", got.samples, got.gaps, tt.wantBefore, tt.wantGaps)
				}

				a = answers{}
				s.include()
				time.Sleep(time.Second)
				stop()
				got := tallyOf(s.observe())
				if got.samples != tt.wantBefore+10 || !slices.Equal(got.gaps, tt.wantGaps) {
					t.Errorf("%d samples and gaps %v at the end, want %d and %v", got.samples, got.gaps, tt.wantBefore+10, tt.wantGaps)
				}
				if got.watched != ms(1950) {
					t.Errorf("watched for %s, want 1.95s", got.watched)
				}
			})
		})
	}
}

func TestStreamExcludedTwiceOrAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{}
		s, stop := watched(t, a.ask)
		time.Sleep(500 * time.Millisecond)
		s.include()
		time.Sleep(500 * time.Millisecond)
		s.exclude()
		time.Sleep(time.Second)
		s.exclude()
		s.include()
		time.Sleep(time.Second)
		stop()
		time.Sleep(time.Second)
		s.exclude()
		s.include()
		o := s.observe()
		if got := tallyOf(o).watched; len(o.spans) != 2 || got != 2*time.Second || o.until != 3*time.Second {
			t.Errorf("watched for %s in %d spans until %s, want 2s in 2 until 3s", got, len(o.spans), o.until)
		}
	})
}

func TestStreamCountsMissedTicks(t *testing.T) {
	for situation, excluded := range map[string]bool{"while watched": false, "while excluded": true} {
		t.Run(situation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &answers{}
				var stoodStill atomic.Int64
				s, stop := watchedOn(t, a.ask, &stoodStill)
				time.Sleep(50 * time.Millisecond)
				if excluded {
					s.exclude()
				}
				stoodStill.Store(int64(350 * time.Millisecond))
				time.Sleep(time.Second)
				stop()
				want := 3
				if excluded {
					want = 0
				}
				if got := s.observe().missed; got != want {
					t.Errorf("%d ticks missed, want %d", got, want)
				}
			})
		})
	}
}
