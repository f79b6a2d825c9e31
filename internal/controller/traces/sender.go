package traces

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/refit-dev/refit/internal/engine/otlp"
	"github.com/refit-dev/refit/internal/upgrade/trace"
)

const (
	// maxQueued bounds the queue. An entry has the spans of a node, about 20.
	maxQueued = 1024
	// maxBatch is how many spans a request has at least, if so many are queued.
	maxBatch = 512
	// maxWait is how long an informer waits for space in the queue, while the collector answers.
	maxWait = 10 * time.Second
	// minRetryInterval and maxRetryInterval are the intervals at which a batch is sent again, and
	// giveUpAfter is for how long. A collector in the cluster may move during an upgrade.
	minRetryInterval = time.Second
	maxRetryInterval = 30 * time.Second
	giveUpAfter      = 10 * time.Minute
	// flushTimeout bounds what delays the end of a leader.
	flushTimeout = 2 * time.Second
)

// sender sends spans to the collector.
type sender struct {
	send    func(ctx context.Context, spans []trace.Span) error
	log     logr.Logger
	queue   chan []trace.Span
	failing atomic.Bool
	rejects bool // the collector rejected spans of the last batch that it answered
	now     func() time.Time
	after   func(time.Duration) <-chan time.Time
}

func newSender(send func(context.Context, []trace.Span) error, log logr.Logger) *sender {
	return &sender{send: send, log: log, queue: make(chan []trace.Span, maxQueued), now: time.Now, after: time.After}
}

// offer queues spans. It reports false if the queue is full: at once if the collector does not
// answer, otherwise after maxWait.
func (s *sender) offer(ctx context.Context, spans []trace.Span) bool {
	select {
	case s.queue <- spans:
		return true
	default:
	}
	if !s.failing.Load() {
		select {
		case s.queue <- spans:
			return true
		case <-ctx.Done():
		case <-s.after(maxWait):
		}
	}
	dropped.Add(float64(len(spans)))
	return false
}

// run sends until the context ends, and then what is queued, once.
func (s *sender) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			s.flush(ctx, nil)
			return
		case spans := <-s.queue:
			if batch := s.batch(spans); !s.deliver(ctx, batch) {
				s.flush(ctx, batch)
				return
			}
		}
	}
}

// batch adds queued spans.
func (s *sender) batch(spans []trace.Span) []trace.Span {
	for len(spans) < maxBatch {
		select {
		case more := <-s.queue:
			spans = append(spans, more...)
		default:
			return spans
		}
	}
	return spans
}

// deliver sends a batch, and retries until it gives up. It reports false if the context ends first.
func (s *sender) deliver(ctx context.Context, batch []trace.Span) bool {
	started, interval := s.now(), minRetryInterval
	for {
		if s.try(ctx, batch) {
			return true
		}
		if s.now().Sub(started) >= giveUpAfter {
			dropped.Add(float64(len(batch)))
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-s.after(interval):
		}
		interval = min(2*interval, maxRetryInterval)
	}
}

// try sends a batch once. It reports false if the batch can be sent again. The first error is
// logged, the following ones are counted.
func (s *sender) try(ctx context.Context, batch []trace.Span) bool {
	err := s.send(ctx, batch)
	rejected, answered := errors.AsType[*otlp.RejectedError](err)
	if err == nil || answered {
		if s.failing.Swap(false) {
			s.log.Info("Traces are exported again")
		}
		s.count(len(batch), rejected)
		return true
	}
	exportErrors.Inc()
	if ctx.Err() == nil && !s.failing.Swap(true) {
		s.log.Error(err, "Cannot export traces, retrying; further errors are only counted", "metric", exportErrorsName)
	}
	return false
}

// count counts the spans of a batch that the collector has answered. It drops those that the
// collector rejected, and logs the first rejection.
func (s *sender) count(sent int, rejected *otlp.RejectedError) {
	lost := 0
	if rejected != nil {
		exportErrors.Inc()
		lost = rejected.Spans
		if !s.rejects {
			s.log.Error(rejected, "Cannot export some traces; further rejections are only counted", "dropped", lost, "metric", exportErrorsName)
		}
	}
	s.rejects = rejected != nil
	dropped.Add(float64(lost))
	exported.Add(float64(sent - lost))
}

// flush sends a batch and what is queued when this process stops to lead.
func (s *sender) flush(ctx context.Context, batch []trace.Span) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	for {
		if len(batch) > 0 && (s.failing.Load() || !s.try(ctx, batch)) {
			dropped.Add(float64(len(batch)))
		}
		select {
		case spans := <-s.queue:
			batch = s.batch(spans)
		default:
			return
		}
	}
}
