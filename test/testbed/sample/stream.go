package sample

import (
	"context"
	"sync"
	"time"
)

// stream takes and keeps the samples of one kind from one place.
type stream struct {
	kind     Kind
	node     string // empty for the API
	ask      probe
	interval time.Duration
	timeout  time.Duration
	now      func() time.Duration // since the Sampler started

	inFlight sync.WaitGroup

	mu     sync.Mutex
	past   []*Span // ended by an exclusion
	watch  *Span   // current span; nil while the node is excluded
	missed int
	halted bool
	until  time.Duration // set when halted
}

// run starts a sample on each tick until the context ends. It never waits for a response: otherwise
// it would sample least when responses are slowest.
func (s *stream) run(ctx context.Context) {
	defer s.halt()
	due := s.now()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.start(ctx)
		next, missed := nextTick(due, s.now(), s.interval)
		s.miss(missed)
		due = next
		tick.Reset(due - s.now())
	}
}

// start starts one sample. Its timeout bounds the number in flight.
func (s *stream) start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch == nil {
		return
	}
	span, started := s.watch, s.now()
	// The end of a run is not a failure of the target: samples in flight keep their own timeout.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	s.inFlight.Go(func() {
		defer cancel()
		reason := s.ask(ctx)
		if reason == "" && s.now()-started > s.timeout {
			reason = reasonResponseTimeout // good, but late; the timer fired late, too
		}
		s.record(span, Sample{Start: started, Reason: reason})
	})
}

// record keeps a sample, unless its span has ended.
func (s *stream) record(span *Span, sample Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if span != s.watch {
		return
	}
	span.Samples = append(span.Samples, sample)
}

func (s *stream) miss(ticks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch != nil {
		s.missed += ticks
	}
}

// exclude ends the current span. Samples in flight are dropped: they may fail because the node is
// down, which is not an outage of the Service.
func (s *stream) exclude() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halted || s.watch == nil {
		return
	}
	s.watch.To = s.now()
	s.past = append(s.past, s.watch)
	s.watch = nil
}

// include starts a new span.
func (s *stream) include() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halted || s.watch != nil {
		return
	}
	s.watch = &Span{From: s.now()}
}

func (s *stream) halt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halted, s.until = true, s.now()
}

// observation is what a stream has recorded so far.
type observation struct {
	kind   Kind
	node   string
	spans  []Span
	missed int
	until  time.Duration
}

// observe is cheap: samples are only appended, so it reads them without a copy.
func (s *stream) observe() observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := observation{kind: s.kind, node: s.node, missed: s.missed, until: s.until}
	if !s.halted {
		o.until = s.now()
	}
	for _, span := range s.past {
		o.spans = append(o.spans, *span)
	}
	if s.watch != nil {
		open := *s.watch
		open.To = o.until
		o.spans = append(o.spans, open)
	}
	return o
}
