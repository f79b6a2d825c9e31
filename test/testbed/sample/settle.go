package sample

import (
	"context"
	"fmt"
	"time"
)

// Settle samples until every stream had only good samples for the quiet time. Without it, a
// measurement starts before a new Service is programmed on every node, and counts that as an
// outage.
func Settle(ctx context.Context, config Config, quiet time.Duration) error {
	s, err := Start(ctx, config)
	if err != nil {
		return err
	}
	defer s.Stop()
	poll := time.NewTicker(s.config.Interval)
	defer poll.Stop()
	for {
		unsettled := s.unsettled(quiet)
		if unsettled == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s had no %s of good samples: %w", unsettled, quiet, context.Cause(ctx))
		case <-poll.C:
		}
	}
}

// unsettled returns a stream that has not had only good samples for the quiet time.
func (s *Sampler) unsettled(quiet time.Duration) string {
	for _, st := range s.streams {
		if !settled(st.observe(), quiet) {
			return string(st.kind) + " " + st.node
		}
	}
	return ""
}

// settled reports whether the last samples of a stream cover the quiet time and are all good.
// Samples in flight do not count, so one that times out may still fail.
func settled(o observation, quiet time.Duration) bool {
	if len(o.spans) == 0 {
		return false
	}
	span := o.spans[len(o.spans)-1]
	var first, last time.Duration
	good := false
	for _, sample := range span.Samples {
		switch {
		case !sample.Good():
			good = false
		case !good:
			first, last, good = sample.Start, sample.Start, true
		default:
			last = max(last, sample.Start)
		}
	}
	return good && last-first >= quiet
}
