package sample

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// ErrUnknownNode is returned for a node without a stream.
var ErrUnknownNode = errors.New("this node is not sampled")

// Sampler samples until it is stopped. It is safe for concurrent use.
type Sampler struct {
	started time.Time
	config  Config
	streams []*stream
	byNode  map[string]*stream
	reused  http.RoundTripper // nil without an API

	cancel context.CancelFunc
	loops  sync.WaitGroup
}

// Start starts sampling until Stop is called or the context ends. It does not check first whether
// the API and the Service are available.
func Start(ctx context.Context, config Config) (*Sampler, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	s := &Sampler{started: time.Now(), config: config, byNode: map[string]*stream{}}
	if err := s.addAPI(); err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	s.addService()

	ctx, s.cancel = context.WithCancel(ctx)
	for _, st := range s.streams {
		st.include()
		s.loops.Go(func() { st.run(ctx) })
	}
	return s, nil
}

func (s *Sampler) addAPI() error {
	c := s.config
	if c.API == nil {
		return nil
	}
	url, err := configMapURL(c.API, c.Namespace, c.ConfigMap)
	if err != nil {
		return err
	}
	fresh, err := newConnections(c.API, c.Timeout)
	if err != nil {
		return err
	}
	if s.reused, err = reusedConnection(c.API); err != nil {
		return err
	}
	s.add(KindAPINew, "", get(fresh, url))
	s.add(KindAPIReused, "", get(s.reused, url))
	return nil
}

func (s *Sampler) addService() {
	c := s.config
	for _, node := range slices.Sorted(maps.Keys(c.From)) {
		s.byNode[node] = s.add(KindService, node, get(singleUse(c.From[node], c.Timeout), c.ServiceURL))
	}
}

func (s *Sampler) add(kind Kind, node string, ask probe) *stream {
	st := &stream{
		kind: kind, node: node, ask: ask,
		interval: s.config.Interval, timeout: s.config.Timeout,
		now: func() time.Duration { return time.Since(s.started) },
	}
	s.streams = append(s.streams, st)
	return st
}

// Exclude suspends the samples from a node during its upgrade. Samples in flight do not count; an
// open gap ends here, marked open.
func (s *Sampler) Exclude(node string) error {
	st, ok := s.byNode[node]
	if !ok {
		return fmt.Errorf("exclude %s: %w", node, ErrUnknownNode)
	}
	st.exclude()
	return nil
}

// Include resumes the samples from an excluded node.
func (s *Sampler) Include(node string) error {
	st, ok := s.byNode[node]
	if !ok {
		return fmt.Errorf("include %s: %w", node, ErrUnknownNode)
	}
	st.include()
	return nil
}

// Report returns the results so far, without samples in flight. A current gap is open and lasts
// until now.
func (s *Sampler) Report() Report {
	seen := make([]observation, 0, len(s.streams))
	for _, st := range s.streams {
		seen = append(seen, st.observe())
	}
	return newReport(s.started, s.config.Interval, s.config.Timeout, seen)
}

// Stop stops sampling, waits for the samples in flight (at most their timeout) and returns the
// report. Later calls return the same report.
func (s *Sampler) Stop() Report {
	s.cancel()
	s.loops.Wait()
	for _, st := range s.streams {
		st.inFlight.Wait()
	}
	if s.reused != nil {
		utilnet.CloseIdleConnectionsFor(s.reused)
	}
	return s.Report()
}
